extension CacheLookup {
    /// Counts a decision that is final.
    ///
    /// A long response counts as a hit only once it turns out to be readable.
    func record(_ decision: CacheDecision) {
        if isNeeded, let use = decision.use, use != .hit || decision.isRead { cache.uses.record(use) }
    }

    /// Decides and, if a short stored response is served, reads its body, all in one job on a thread of the cache.
    func decideAndLoad(revalidatesLater: Bool = false) -> CacheDecision {
        // A damaged entry is removed; there are a few of a URL at most.
        for _ in 0..<8 {
            let decision = decide(revalidatesLater: revalidatesLater)
            // One that is too long is not read: the request will fail.
            guard case .serve(var reply) = decision, accepts(reply) else { return decision }
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

    /// Returns a reply whose stored head has been updated, with its short body; `nil` if that is damaged.
    func renewed(_ reply: StoredReply, _ renewal: StoredHead) -> StoredReply? {
        var reply = reply
        guard let loaded = try? cache.load(cache.renew(reply.stored, renewal, key)) else { return nil }
        reply.stored = loaded
        return reply
    }
}

extension CacheDecision {
    /// A Boolean value that indicates whether the whole body of the stored response to serve has been read.
    var isRead: Bool {
        guard case .serve(let reply) = self, case .loaded = reply.stored.body else { return false }
        return true
    }

    /// The stored response to serve if its whole body has been read, and nothing else has to be done.
    package var loaded: (reply: StoredReply, body: [UInt8])? {
        guard case .serve(let reply) = self, case .loaded(let body, _) = reply.stored.body,
            !reply.needsRevalidation
        else { return nil }
        return (reply, body)
    }
}
