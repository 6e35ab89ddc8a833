import Glibc

/// An exchange over a connection of this module.
protocol ConnectionExchange: Exchange {
    /// The times when the connection was established; `nil` for a connection that was used before.
    var newConnection: ConnectionStart? { get }
    /// The time when the first byte of the response arrived.
    var firstByte: MonotonicInstant? { get }
    /// The name of the protocol.
    var protocolName: String { get }
}

extension ConnectionExchange {
    var reusesConnection: Bool { newConnection == nil }

    func describe(in metrics: inout TransferMetrics, from start: MonotonicInstant) {
        if let firstByte { metrics.timeToFirstByte = start.duration(to: firstByte) }
        metrics.reusedConnection = reusesConnection
        if let newConnection {
            metrics.connectDuration = start.duration(to: newConnection.connected)
            metrics.tlsDuration = newConnection.secured.map(start.duration) ?? .zero
        }
        metrics.protocolName = protocolName
    }
}

extension HTTP1Connection: ConnectionExchange {
    var newConnection: ConnectionStart? { hasBeenIdle ? nil : start }
    var isShared: Bool { false }
    var protocolName: String { reader.isVersion11 ? "HTTP/1.1" : "HTTP/1.0" }
}

extension HTTP2Stream: ConnectionExchange {
    var newConnection: ConnectionStart? { isFirst ? connection.start : nil }
    var isShared: Bool { true }
    var protocolName: String { "HTTP/2" }
}

extension TLSHandshake: Exchange {
    var reusesConnection: Bool { false }
    var isShared: Bool { false }

    /// There is no response whose metrics are reported.
    func describe(in metrics: inout TransferMetrics, from start: MonotonicInstant) {}
}

// MARK: - The loss of a connection

extension ActiveTransfer {
    /// Returns the end of an exchange whose connection was lost because of a system's error, or a failure of TLS.
    func loss(
        _ repetition: ExchangeEnd.Repetition, _ systemError: Int32, _ failure: TLSFailure?
    ) -> ExchangeEnd {
        guard let failure else {
            return .failed(connectionError(unsafe String(cString: strerror(systemError))), repetition)
        }
        return switch failure.kind {
        // With TLS 1.3, a server checks the client certificate after the connection counts as established.
        case .rejected, .endlessData, .tooManyOpenFiles: abortion(by: failure)
        case .brokenOff, .unannouncedEnd: .failed(connectionError(failure.detail), repetition)
        }
    }

    /// Returns the end of an exchange whose connection cannot be used because of a failure of TLS.
    func abortion(by failure: TLSFailure) -> ExchangeEnd {
        let reason: TransportError.Reason =
            switch failure.kind {
            case .rejected: .tlsFailure
            case .tooManyOpenFiles: .tooManyOpenFiles
            case .endlessData: .invalidResponse
            case .brokenOff, .unannouncedEnd: .connectionFailed
            }
        fail(reason, detail: failure.kind == .tooManyOpenFiles ? nil : failure.detail)
        return .aborted
    }
}
