import HTTPTransport
import Threading

/// Takes a response from the transport's thread for a ``HookedTransfer``, which may be slower.
final class HookInlet: TransferReceiver {
    private let log: BodyLog
    private let reader: BodyReader?
    private let answer = OneShot<ResponseHead?>()
    private let state = Locked<(head: ResponseHead?, outcome: TransferOutcome?)>((nil, nil))

    init() {
        log = BodyLog(replayLimit: 0)
        reader = log.makeReader()
    }

    /// What to wake up when the reader has caught up.
    func attach(_ transfer: any Transfer) { log.attach(transfer) }

    /// The head, once it is there; nil if the transfer ended before.
    var head: ResponseHead? {
        get async throws { try await answer.value }
    }

    /// The next pieces of the body; nil at its end.
    ///
    /// Throws what ended the transfer early.
    func next() async throws -> [[UInt8]]? {
        guard let pieces = try await reader?.next() else { return nil }
        return pieces
    }

    /// How the transfer ended; nil before.
    var outcome: TransferOutcome? { state.withLock { $0.outcome } }

    func receive(_ head: ResponseHead) {
        state.withLock { $0.head = head }
        answer.resolve(.success(head))
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand { log.append(bytes) }

    func finish(_ outcome: TransferOutcome) {
        let head = state.withLock { state in
            state.outcome = outcome
            return state.head
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
