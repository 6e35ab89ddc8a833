import HTTPTransport
import HTTPTypes
import Threading
import ResponseCache

/// Takes a response from the transport's thread for a ``HookedTransfer``, which may be slower.
final class HookInlet: ResponseReceiver {
    private let log: BodyLog
    private let reader: BodyReader?
    private let answer = OneShot<(ResponseHead, ResponseSource)?>()
    private let state = Locked<(head: ResponseHead?, outcome: TransferOutcome?)>((nil, nil))

    init() {
        log = BodyLog(replayLimit: 0)
        reader = log.makeReader()
    }

    /// What to wake up when the reader has caught up.
    func attach(_ transfer: any Transfer) { log.attach(transfer) }

    /// The head and where it comes from, once it is there; nil if the transfer ended before.
    var head: (ResponseHead, ResponseSource)? {
        get async throws { try await answer.value }
    }

    /// The next pieces of the body; nil when no more come, of which ``outcome`` tells the reason.
    func next() async throws -> [[UInt8]]? {
        do { return try await reader?.next() } catch is ImageError { return nil }
    }

    /// How the transfer ended; nil before.
    var outcome: TransferOutcome? { state.withLock { $0.outcome } }

    func receive(_ head: ResponseHead, from source: ResponseSource) {
        state.withLock { $0.head = head }
        answer.resolve(.success((head, source)))
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand { log.append(bytes) }

    func finish(_ outcome: TransferOutcome) {
        let received = log.received
        let (outcome, head) = state.withLock { state in
            // Behind the hooks the body may be of any length.
            let error = state.head.flatMap { outcome.isComplete ? $0.error(ofLength: received) : nil }
            let outcome = error.map { .failed($0) } ?? outcome
            state.outcome = outcome
            return (outcome, state.head)
        }
        switch (outcome, head) {
        case (.failed(let error), _): log.finish(.failure(.transport(error)))
        case (.complete(let metrics), let head?), (.stopped(let metrics), let head?):
            log.finish(.success((head, metrics)))
        case (_, nil): break  // nobody reads a body without a head
        }
        answer.resolve(.success(nil))
    }
}

extension TransferOutcome {
    fileprivate var isComplete: Bool { if case .complete = self { true } else { false } }
}

extension ResponseHead {
    /// What is wrong with a complete body of so many bytes, if the head says that it has another length.
    fileprivate func error(ofLength received: Int) -> TransportError? {
        guard let contentLength, status.hasBody, received != contentLength else { return nil }
        return TransportError(
            url: url.string,
            reason: received > contentLength
                ? .invalidResponse : .truncated(expected: contentLength, received: received))
    }
}

extension HTTPResponse.Status {
    fileprivate var hasBody: Bool { self != .noContent && self != .notModified }
}
