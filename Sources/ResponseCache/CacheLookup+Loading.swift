package import HTTPTransport

extension CacheLookup {
    /// Decides and, if a short stored response is served, reads its body, all in one job on a thread of the cache.
    func decideAndLoad(revalidatesLater: Bool = false) -> CacheDecision {
        // A damaged entry is removed, and ignored from now on; there are a few of a URL at most.
        for _ in 0..<8 {
            let decision = decide(revalidatesLater: revalidatesLater)
            guard case .serve(var reply) = decision else { return decision }
            if let loaded = cache.load(reply.stored) {
                reply.stored = loaded
                return .serve(reply)
            }
        }
        return policy == .cacheOnly ? .refuse : .fetch(standIn: nil)
    }
}

extension CacheDecision {
    /// The stored response to serve if its whole body has been read, and nothing else has to be done.
    package var loaded: (head: ResponseHead, source: ResponseSource, body: [UInt8])? {
        guard case .serve(let reply) = self, case .loaded(let body, _) = reply.stored.body, reply.positions == nil,
            !reply.needsRevalidation
        else { return nil }
        return (reply.head, reply.source, body)
    }
}
