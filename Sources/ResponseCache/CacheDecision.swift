package import HTTPTransport

/// The decision of a cache about a request.
package enum CacheDecision: Sendable {
    /// Serve the stored response.
    case serve(StoredReply)
    /// Ask the origin whether the stored response is still valid.
    case revalidate(StoredResponse)
    /// Request the remainder of a body whose beginning is stored.
    case resume(StoredPart)
    /// Request the response; `standIn` can be used if the request fails (`stale-if-error`).
    case fetch(standIn: StoredResponse?)
    /// Decide again hop by hop: a stored redirect leads to a response that is not stored.
    case followRedirect
    /// Fail, because nothing is stored and the network must not be used.
    case refuse

    /// Calls `then` with the decision of a cache about a request: on the cache's thread, or immediately if the cache
    /// does not apply to the request.
    ///
    /// With `revalidatesLater`, the caller must revalidate a response that ``needsRevalidation``; otherwise, there is no
    /// such response. A decision that needs the network, and so may have to wait, says nothing more: the cache is asked
    /// again when the request is sent.
    package static func find(
        for request: TransportRequest, in cache: ResponseCache?, policy: CachePolicy, revalidatesLater: Bool = true,
        then: @escaping @Sendable (CacheDecision) -> Void
    ) {
        guard let lookup = CacheLookup(request, in: cache, policy: policy) else {
            return then(policy == .cacheOnly ? .refuse : .fetch(standIn: nil))
        }
        lookup.cache.thread.append { then(lookup.decideAtOnce(revalidatesLater: revalidatesLater).closed) }
    }

    /// A Boolean value that indicates whether the response to serve is stale: the caller must revalidate it afterward.
    package var needsRevalidation: Bool {
        if case .serve(let reply) = self { reply.needsRevalidation } else { false }
    }

    /// A Boolean value that indicates whether no network is needed.
    package var isLocal: Bool {
        switch self {
        case .serve, .refuse: true
        case .revalidate, .resume, .fetch, .followRedirect: false
        }
    }

    /// The complete stored response that can be served after asking the origin, if any.
    var stored: StoredResponse? {
        switch self {
        case .revalidate(let stored): stored
        case .fetch(let stored): stored
        case .serve, .resume, .followRedirect, .refuse: nil
        }
    }

    /// The decision without open files, which a waiting request must not hold: the cache is asked again.
    package var closed: CacheDecision { isLocal ? self : .fetch(standIn: nil) }
}
