import HTTPTransport
import HTTPTypes

extension CacheLookup {
    /// Decides about a request before it has a slot; on the cache's thread.
    ///
    /// Stored redirects are followed as long as they lead to a stored response. A stale response is served, if its
    /// origin allows it, only with `revalidatesLater`: the caller revalidates it.
    func decideAtOnce(revalidatesLater: Bool = true) -> CacheDecision {
        let decision = decideAboutAllHops(revalidatesLater: revalidatesLater)
        // In all other cases, the cache is asked again.
        if decision.isLocal { record(decision) }
        return decision
    }

    private func decideAboutAllHops(revalidatesLater: Bool) -> CacheDecision {
        var lookup = self
        while true {
            let decision = lookup.decideAndLoad(
                revalidatesLater: revalidatesLater && lookup.request.followedRedirects == nil)
            guard case .serve(let reply) = decision else {
                if lookup.request.followedRedirects == nil { return decision }
                return policy == .cacheOnly ? .refuse : .followRedirect
            }
            guard reply.head.status.kind == .redirection else { return decision }
            var request = lookup.request
            let count = request.followedRedirects ?? 0
            request.followedRedirects = count
            let target = try? RedirectRule.next(after: reply.head.response, of: request, redirectCount: count)
            let next = target.flatMap { CacheLookup($0, in: cache, policy: policy, isRetry: isRetry) }
            guard let next else { return .followRedirect }
            lookup = next
        }
    }
}
