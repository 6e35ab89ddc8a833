package import HTTPTransport

extension CacheLookup {
    /// Decides and, if a short stored response is served, reads its body, all in one job on a thread of the cache.
    func decideAndLoad(revalidatesLater: Bool = false) -> CacheDecision {
        // A damaged entry is removed; there are a few of a URL at most.
        for _ in 0..<8 {
            let decision = decide(revalidatesLater: revalidatesLater)
            guard case .serve(var reply) = decision else { return decision }
            do throws(StoredBodyError) {
                reply.stored = try cache.load(reply.stored)
                return .serve(reply)
            } catch {
                // One that cannot be read at the moment remains, and would be found again.
                guard error == .damaged else { break }
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
