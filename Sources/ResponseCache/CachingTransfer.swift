import HTTPTransport
import Threading

/// A transfer that the cache has a part in.
///
/// It carries a decision of the cache out, and hands over one response, stored or new. The
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
    private let receiver: any ResponseReceiver
    private let state = Locked(State())

    init(_ lookUp: CacheLookUp, over transport: any Transport, receiver: any ResponseReceiver) {
        self.lookUp = lookUp
        self.transport = transport
        self.receiver = receiver
    }

    /// Carries out what was decided before, if anything was.
    func start(_ decision: CacheDecision?) {
        switch decision {
        case nil where lookUp.isNeeded: lookUp.cache.thread.append { self.carryOut(self.lookUp.decide()) }
        case nil, .fetch(standIn: nil)?: fetch(.fetch(standIn: nil))
        case let decision?: lookUp.cache.thread.append { self.carryOut(decision.reopened(in: self.lookUp.cache)) }
        }
    }

    func cancel() {
        let current = state.withLock { state in
            state.isCancelled = true
            return state.current
        }
        current?.cancel()
    }

    func resume() { state.withLock { $0.current }?.resume() }

    private func carryOut(_ decision: CacheDecision) {
        guard !state.withLock({ $0.isCancelled }) else { return end(lookUp.failure(.cancelled)) }
        switch decision {
        case .serve(let reply): serve(reply, TransferMetrics())
        case .refuse: end(lookUp.failure(.notCached))
        case .revalidate, .resume, .fetch: fetch(decision)
        }
    }

    private func fetch(_ decision: CacheDecision) {
        let transfer = StoringTransfer(decision, for: lookUp, over: transport, receiver: receiver) { end in
            switch end {
            case .over(let outcome): self.end(outcome)
            case .serve(let reply, let metrics): self.lookUp.cache.thread.append { self.serve(reply, metrics) }
            case .askAnew: self.lookUp.cache.thread.append { self.fetch(.fetch(standIn: nil)) }
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
        receiver.receive(reply.head, from: reply.source)
        transfer.start()
    }

    /// What is stored is damaged, and nobody has seen anything of it.
    private func fetchInstead(of reply: StoredReply) {
        lookUp.cache.removeDamaged(reply.stored.name)
        guard lookUp.policy != .cacheOnly else { return end(lookUp.failure(.notCached)) }
        fetch(.fetch(standIn: nil))
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
