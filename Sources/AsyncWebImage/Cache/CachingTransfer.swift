import HTTPTransport
import Threading

/// A transfer that the cache has a part in.
///
/// It looks for a stored response, asks over the network what it must, and hands over one response, stored or new. The
/// receiver is called by the cache's thread for what is stored and by the transport's for what is not, one after the
/// other: when one begins, the other has ended.
final class CachingTransfer: Transfer {
    private struct State {
        var isCancelled = false
        /// What hands over the response, or asks for it; one follows the other.
        var current: (any Transfer)?
    }

    private let lookUp: CacheLookUp
    private let transport: any Transport
    private let reach: CachingTransport.Reach
    private let note: @Sendable (ResponseSource) -> Void
    private let receiver: any TransferReceiver
    private let state = Locked(State())

    init(
        _ lookUp: CacheLookUp, over transport: any Transport, reach: CachingTransport.Reach,
        note: @escaping @Sendable (ResponseSource) -> Void, receiver: any TransferReceiver
    ) {
        self.lookUp = lookUp
        self.transport = transport
        self.reach = reach
        self.note = note
        self.receiver = receiver
    }

    func start() {
        if case .network = reach { return fetch(.everything(standIn: nil)) }
        guard lookUp.isNeeded else { return fetch(.everything(standIn: nil)) }
        lookUp.cache.thread.append { self.decide() }
    }

    func cancel() {
        let current = state.withLock { state in
            state.isCancelled = true
            return state.current
        }
        current?.cancel()
    }

    func resume() { state.withLock { $0.current }?.resume() }

    private func decide() {
        guard !state.withLock({ $0.isCancelled }) else { return end(lookUp.failure(.cancelled)) }
        switch lookUp.decide() {
        case .serve(let reply): serve(reply, TransferMetrics())
        case .fetch(let inquiry): fetch(inquiry)
        case .fail: end(lookUp.failure(.notCached))
        }
    }

    private func fetch(_ inquiry: CacheLookUp.Inquiry) {
        if case .cache(let result) = reach {
            if case .everything(standIn: nil) = inquiry { result.set(.missing) } else { result.set(.unusable) }
            return end(lookUp.failure(.notCached))
        }
        let transfer = StoringTransfer(inquiry, for: lookUp, over: transport, note: note, receiver: receiver) { end in
            switch end {
            case .over(let outcome): self.end(outcome)
            case .serve(let reply, let metrics): self.lookUp.cache.thread.append { self.serve(reply, metrics) }
            case .askAnew: self.lookUp.cache.thread.append { self.fetch(.everything(standIn: nil)) }
            }
        }
        if goOn(with: transfer) { transfer.start() }
    }

    private func serve(_ reply: StoredReply, _ metrics: TransferMetrics) {
        var reader = StoredBodyReader(reply.stored.body)
        let first: [UInt8]?
        do { first = try reader.next() } catch { return fetchInstead(of: reply) }
        let transfer = StoredTransfer(first, reader, to: receiver, on: lookUp.cache.thread) { end in
            switch end {
            case .complete: self.end(.complete(metrics), after: reply)
            case .stopped: self.end(.stopped(metrics), after: reply)
            case .cancelled: self.end(self.lookUp.failure(.cancelled), after: reply)
            case .damaged(let received):
                self.lookUp.cache.removeDamaged(reply.stored.name)
                let length = reply.stored.body.length
                self.end(self.lookUp.failure(.truncated(expected: length, received: received)))
            }
        }
        guard goOn(with: transfer) else { return }
        note(reply.source)
        receiver.receive(reply.head)
        transfer.start()
    }

    /// What is stored is damaged, and nobody has seen anything of it.
    private func fetchInstead(of reply: StoredReply) {
        lookUp.cache.removeDamaged(reply.stored.name)
        guard lookUp.policy != .cacheOnly else { return end(lookUp.failure(.notCached)) }
        fetch(.everything(standIn: nil))
    }

    /// False if nothing follows, because the transfer was cancelled: then it ends here.
    private func goOn(with transfer: any Transfer) -> Bool {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.current = transfer }
            return state.isCancelled
        }
        if isCancelled { end(lookUp.failure(.cancelled)) }
        return !isCancelled
    }

    private func end(_ outcome: TransferOutcome, after reply: StoredReply) {
        if let renewal = reply.renewal { lookUp.cache.renew(reply.stored, renewal, lookUp.key) }
        end(outcome)
    }

    /// The one way out.
    private func end(_ outcome: TransferOutcome) {
        state.withLock { $0.current = nil }
        receiver.finish(outcome)
    }
}
