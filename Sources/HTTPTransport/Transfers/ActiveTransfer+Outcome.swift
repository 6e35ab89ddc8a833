import HTTPTypes

// The outcome of a transfer.
extension ActiveTransfer {
    /// The maximum number of times that a request is repeated because the server has not processed it.
    static let maximumRefusals = 20

    /// Returns the outcome to report to the receiver after the exchange has ended.
    func outcome(_ end: ExchangeEnd) -> TransferOutcome {
        switch abortReason {
        case .stopped: return .stopped(metrics())
        case .failed(let error): return .failed(error)
        case nil: break
        }
        switch end {
        case .failed(let error, _): return isCompleteAfterDecoding(error) ? .complete(metrics()) : .failed(error)
        case .aborted: return .failed(error(.invalidResponse))
        // libcurl accepts a truncated head.
        case .complete: return delivered.hasHead ? .complete(metrics()) : .failed(error(.connectionLost))
        }
    }

    /// Returns whether the declared length was that of the decoded body, which is complete: servers that compress files as
    /// they send them make this mistake, and browsers tolerate it.
    private func isCompleteAfterDecoding(_ error: TransportError) -> Bool {
        guard case .truncated(let expected?, _) = error.reason else { return false }
        return decoder?.hasEnded(after: expected) == true
    }

    /// Returns the outcome to report for a response that was delivered without its body.
    func outcomeWithoutBody() -> TransferOutcome {
        if case .failed(let error)? = abortReason { .failed(error) } else { .complete(metrics()) }
    }

    /// Returns the outcome to report when a deadline has passed.
    func outcome(after deadline: Deadlines.Kind) -> TransferOutcome { .failed(timeout(deadline)) }

    /// Returns whether the request must be sent again, over a new connection.
    ///
    /// libcurl itself would use other old connections, which can be about to close as well.
    ///
    /// If there was no file descriptor for a connection, it must if `makeRoom` can provide one.
    func mustRepeat(_ condition: ExchangeEnd.Repetition, makingRoom makeRoom: () -> Bool) -> Bool {
        guard abortReason == nil, !handle.isCancelled else { return false }
        if case .repeated(_, let refusalCount) = attempt {
            // A server that closes each connection after a few requests can refuse a request several times.
            return condition == .ifRefused && refusalCount < Self.maximumRefusals
        }
        let isUnanswered =
            [.get, .head].contains(request.method)
            && (clock.phase == .connecting || clock.phase == .waitingForFirstByte)
        return switch condition {
        case .never: false
        case .ifReused: isUnanswered && exchange?.reusesConnection == true
        case .ifUnanswered: isUnanswered
        case .ifRefused: true
        case .ifReplaced: makeRoom()
        }
    }

    /// Returns the error of a hop whose deadline has passed.
    func timeout(_ deadline: Deadlines.Kind) -> TransportError {
        let limit: Duration? =
            switch deadline {
            case .lookup: request.deadlines.lookup
            case .connect: request.deadlines.connect
            case .firstByte: request.deadlines.firstByte
            case .idle: request.deadlines.idle
            // For a later attempt, this is only the remaining time.
            case .total: nil
            }
        let details = [
            limit.map { "after \($0)" }, usesProxy && deadline == .connect ? "through the proxy" : nil,
        ].compactMap(\.self)
        return error(.timedOut(deadline), details.isEmpty ? nil : details.joined(separator: ", "))
    }

    /// Returns the error of a hop whose connection was lost, or not made.
    func connectionError(_ detail: String? = nil) -> TransportError {
        let progress = progress
        guard usesProxy, case .connecting = progress else { return error(progress.loss, detail) }
        return error(.connectionFailed, "to the proxy: \(detail ?? "")")
    }

    /// Returns whether a body that ends after `count` bytes is shorter than its `Content-Length`.
    func lacksBody(after count: Int) -> Bool {
        delivered.hasHead && delivered.expectedBytes.map { count < $0 } == true
    }

    /// The progress of the hop.
    var progress: TransferProgress {
        if delivered.hasHead {
            return .receivingBody(expected: delivered.expectedBytes, received: delivered.bodyBytes)
        }
        return clock.phase == .connecting ? .connecting : .waitingForHead
    }

    /// Returns the metrics; valid while the transfer still has its connection.
    private func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.nameLookupDuration = resolved
        metrics.totalDuration = start.duration(to: .now)
        metrics.bodyBytes = delivered.bodyBytes
        metrics.redirectCount = redirectCount
        exchange?.describe(in: &metrics, from: start)
        return metrics
    }
}

/// The progress of a transfer when it ends, on which the meaning of a failure depends.
enum TransferProgress {
    case connecting
    case waitingForHead
    case receivingBody(expected: Int?, received: Int)

    /// The reason of a failure if the connection was lost, or not made.
    var loss: TransportError.Reason {
        switch self {
        case .connecting: .connectionFailed
        case .waitingForHead: .connectionLost
        case .receivingBody(let expected, let received): .truncated(expected: expected, received: received)
        }
    }
}
