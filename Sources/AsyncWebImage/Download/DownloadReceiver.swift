import HTTPTransport
import HTTPTypes
import Threading

/// Takes one response on the transport's thread: the body of a success goes into the log, of a failure only the
/// beginning is kept.
final class DownloadReceiver: TransferReceiver {
    fileprivate struct State {
        var head: ResponseHead?
        var failedBody: [UInt8] = []
        var failedBytes = 0
        var completion: (@Sendable () -> Void)?
    }

    /// How much of a failure's text is kept.
    private static let textLimit = 1 << 10
    /// How much of a failure's body is read to keep the connection for the next request.
    private static let discardLimit = 64 << 10

    private let log: BodyLog
    private let url: HTTPURL
    private let state: Locked<State>

    init(url: HTTPURL, log: BodyLog, completion: @escaping @Sendable () -> Void) {
        self.url = url
        self.log = log
        state = Locked(State(completion: completion))
    }

    func receive(_ head: ResponseHead) {
        state.withLock { $0.head = head }
        if head.isSuccess { log.expect(head.contentLength) }
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        let isSuccess = state.withLock { $0.head?.isSuccess ?? false }
        guard !isSuccess else { return log.append(bytes) }
        return state.withLock { state in
            state.failedBytes += bytes.count
            let room = Self.textLimit - state.failedBody.count
            if room > 0 { state.failedBody.append(copying: bytes.extracting(0..<min(room, bytes.count))) }
            return state.failedBytes < Self.discardLimit ? .more : .stop
        }
    }

    func finish(_ outcome: TransferOutcome) {
        let (end, completion) = state.withLock { state in
            defer { state.completion = nil }
            return (state.end(outcome, url: url.string, received: log.received), state.completion)
        }
        log.finish(end)
        completion?()
    }
}

extension DownloadReceiver.State {
    fileprivate func end(_ outcome: TransferOutcome, url: String, received: Int) -> BodyLog.End {
        switch outcome {
        case .failed(let error):
            return .failure(.transport(error))
        case .complete(let metrics), .stopped(let metrics):
            guard let head else { return .failure(.transport(TransportError(url: url, reason: .connectionLost))) }
            guard head.isSuccess else { return .failure(.status(head, text: head.text(of: failedBody))) }
            guard received > 0 else { return .failure(.emptyBody(url: url)) }
            return .success((head, metrics))
        }
    }
}

extension ResponseHead {
    /// A part of the body (206) is none: nobody asked for it.
    fileprivate var isSuccess: Bool { status.kind == .successful && status != .partialContent }

    /// The body as text, if the server says that it is some.
    fileprivate func text(of body: [UInt8]) -> String {
        let type = response.headerFields[.contentType] ?? ""
        guard type.hasPrefix("text/") || type.hasPrefix("application/json") else { return "" }
        return String(decoding: body, as: UTF8.self)
    }
}
