package import HTTPTransport

/// A responder that uses a cache, within the limits of a policy, before it asks another responder.
package struct CachingResponder: Responder {
    private let cache: ResponseCache?
    private let policy: CachePolicy
    private let decision: CacheDecision?
    private let isRetry: Bool
    private let interest: BodyInterest?
    private let next: any Responder

    /// Creates a responder that asks `next` for responses that the cache does not have.
    ///
    /// `decision` is the decision of the cache about the same request, if the cache was asked before; unless it needs no
    /// network, or nothing is stored, the cache is asked again. A request with
    /// `isRetry` repeats a failed one: remembered failures do not answer it. `interest` is the part of the body that is
    /// wanted; if that is only the beginning, no part of an interrupted body is stored.
    package init(
        _ cache: ResponseCache?, policy: CachePolicy, decision: CacheDecision? = nil, isRetry: Bool = false,
        interest: BodyInterest? = nil, before next: any Responder
    ) {
        self.isRetry = isRetry
        self.interest = interest
        self.cache = cache
        self.policy = policy
        self.decision = decision
        self.next = next
    }

    /// Returns whether a request is answered in another way with a cache than without one.
    package static func isNeeded(for request: TransportRequest, _ cache: ResponseCache?, _ policy: CachePolicy) -> Bool
    {
        policy == .cacheOnly || cache != nil && CacheRequest.applies(to: request, policy)
    }

    package func response(to request: TransportRequest) async throws -> IncomingResponse {
        guard let cache, let request = CacheRequest(request, policy: policy, isRetry: isRetry) else {
            guard policy != .cacheOnly else { throw TransportError(url: request.url.string, reason: .notCached) }
            return try await next.response(to: request)
        }
        let decision = await decision(request, cache)
        try Task.checkCancellation()
        return try await CacheExchange(request, cache, next, interest).response(decision)
    }

    /// The decision about the request, with open files.
    private func decision(_ request: CacheRequest, _ cache: ResponseCache) async -> CacheDecision {
        // It is about the first of several hops.
        if let decision, decision.isLocal || decision.isMiss, request.transportRequest.followedRedirects ?? 0 == 0 {
            if decision.isMiss { cache.record(decision, request) }
            return decision
        }
        guard request.usesStoredResponses else { return .fetch(standIn: nil) }
        // Other processes may have stored the response while the request has waited.
        return await cache.thread.run {
            let decision = cache.lookUp(request)
            cache.record(decision, request)
            return decision
        }
    }
}
