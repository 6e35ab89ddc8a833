package import HTTPTransport
import HTTPTypes

// Looking up the response to a request; on the cache's threads.
extension ResponseCache {
    /// Calls `then` with the decision of a cache about a request that has no slot yet: on a thread of the cache, or
    /// immediately if the cache does not apply to the request.
    ///
    /// With `revalidatesLater`, the caller must revalidate a response that ``CacheDecision/needsRevalidation``;
    /// otherwise, there is no such response. A decision that needs the network, and so may have to wait, says no more than
    /// whether something is stored: the cache is asked again when the request is sent.
    package static func lookUp(
        _ request: TransportRequest, in cache: ResponseCache?, policy: CachePolicy, revalidatesLater: Bool = true,
        then: @escaping @Sendable (CacheDecision) -> Void
    ) {
        guard let cache, let request = CacheRequest(request, policy: policy) else {
            return then(.withoutResponse(policy))
        }
        cache.thread.append {
            let decision = cache.lookUpAllHops(request, revalidatesLater: revalidatesLater)
            if decision.isLocal { cache.record(decision, request) }
            then(decision.closed)
        }
    }

    /// Looks up the response to a request, following stored redirects as long as they lead to a stored response.
    func lookUpAllHops(_ request: CacheRequest, revalidatesLater: Bool) -> CacheDecision {
        var hop = request
        while true {
            let isFirst = hop.transportRequest.followedRedirects == nil
            let decision = lookUp(hop, revalidatesLater: revalidatesLater && isFirst)
            guard case .serve(let reply) = decision else {
                return isFirst || decision.isLocal ? decision : .undecided
            }
            guard reply.head.status.kind == .redirection else { return decision }
            guard let next = hop.target(of: reply) else { return .undecided }
            hop = next
        }
    }

    /// Looks up the response to a request, which can be a redirect: finds a stored response, decides about it, and reads
    /// its body if that is short and will be served.
    func lookUp(_ request: CacheRequest, revalidatesLater: Bool = false) -> CacheDecision {
        // A damaged entry is removed; there are a few of a URL at most.
        for _ in 0..<8 {
            let decision = decision(request, revalidatesLater: revalidatesLater)
            // One that is too long is not read: the request will fail.
            guard case .serve(var reply) = decision, request.accepts(reply) else { return decision }
            do throws(StoredBodyError) {
                reply.stored = try readIfShort(reply.stored)
                return .serve(reply)
            } catch {
                // One that cannot be read at the moment remains, and would be found again.
                guard error == .damaged else { break }
            }
        }
        return .withoutResponse(request.policy)
    }

    private func decision(_ request: CacheRequest, revalidatesLater: Bool) -> CacheDecision {
        guard request.usesStoredResponses else { return .fetch(standIn: nil) }
        if request.usesCompleteResponses {
            let stored = find(.whole, request.transportRequest, request.resource)
            let decision = request.decision(
                about: stored, from: source, at: now(), revalidatesLater: revalidatesLater)
            if let decision { return decision }
        }
        return part(for: request).map(CacheDecision.resume) ?? .fetch(standIn: nil)
    }

    private func part(for request: CacheRequest) -> StoredPart? {
        guard let stored = find(.part, request.transportRequest.withoutRange, request.resource),
            let part = StoredPart(stored, for: request.transportRequest)
        else { return nil }
        // Verified before the request: the remainder of a damaged body would be useless.
        do throws(StoredBodyError) {
            try stored.body.verify()
            return part
        } catch {
            removeDamaged(stored, after: error)
            return nil
        }
    }

    /// Returns the most recent stored response of a kind for a request (RFC 9111, section 4); `nil` if there is none,
    /// or its head is damaged.
    package func find(
        _ kind: EntryKind, _ request: TransportRequest, _ resource: CachedResource
    ) -> StoredResponse? {
        func usable(_ key: ResponseStorageKey) -> StoredResponse? {
            guard let stored = open(key), stored.head.answers(resource, request.headerFields),
                !hasExpired(stored.head)
            else { return nil }
            return stored
        }
        // Most responses that are found have this key; none is stored beside it, see `removeOutdated`.
        let plain = resource.plainKey
        var found = kind == .whole ? usable(plain) : nil
        if found == nil {
            for key in keys(of: resource.hash) where key.kind == kind && key != plain {
                guard let other = usable(key) else { continue }
                // Of equally recent ones, the first in the list was stored last.
                if let best = found, !other.head.isMoreRecent(than: best.head, at: now()) { continue }
                found = other
            }
        }
        found?.body.markUsed()
        return found
    }

    /// Counts a decision about a request that is final.
    func record(_ decision: CacheDecision, _ request: CacheRequest) {
        if request.usesStoredResponses, let use = decision.use { uses.record(use) }
    }
}
