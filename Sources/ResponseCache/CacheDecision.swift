package import HTTPTransport

/// What a cache makes of a request, found out once for each that may be sent.
package enum CacheDecision: Sendable {
    /// What is stored is the response.
    case serve(StoredReply)
    /// The origin is asked whether what is stored is still right.
    case revalidate(StoredResponse)
    /// The origin is asked for the remainder of a body whose beginning is stored.
    case resume(StoredPart)
    /// The origin is asked for the response; what is stored may stand in for one that does not come.
    case fetch(standIn: StoredResponse?)
    /// Nothing is stored, and nobody may be asked.
    case refuse

    /// Calls `then` with the decision of a cache about a request: on the cache's thread, or at once if it takes no part.
    package static func find(
        for request: TransportRequest, in cache: ResponseCache?, policy: CachePolicy,
        then: @escaping @Sendable (CacheDecision) -> Void
    ) {
        guard let lookUp = CacheLookUp(request, in: cache, policy: policy) else {
            return then(policy == .cacheOnly ? .refuse : .fetch(standIn: nil))
        }
        lookUp.cache.thread.append { then(lookUp.decide().closed) }
    }

    /// Whether it is carried out without the network.
    package var isLocal: Bool {
        switch self {
        case .serve, .refuse: true
        case .revalidate, .resume, .fetch: false
        }
    }

    /// The whole response that may be served after the origin was asked, if there is one.
    var stored: StoredResponse? {
        switch self {
        case .revalidate(let stored): stored
        case .fetch(let stored): stored
        case .serve, .resume, .refuse: nil
        }
    }

    /// The same without open files, of which a request that waits for its turn must not have any.
    package var closed: CacheDecision {
        switch self {
        case .serve, .refuse: self
        case .revalidate(let stored): .revalidate(stored.closed)
        case .resume(let part): .resume(part.replacing(part.stored.closed))
        case .fetch(let stored): .fetch(standIn: stored?.closed)
        }
    }

    /// The same with open files again, on the cache's thread.
    ///
    /// What was removed or replaced meanwhile is done without.
    package func reopened(in cache: ResponseCache) -> CacheDecision {
        switch self {
        case .serve, .refuse: self
        case .revalidate(let stored): cache.reopen(stored).map { .revalidate($0) } ?? .fetch(standIn: nil)
        case .resume(let part): cache.reopen(part.stored).map { .resume(part.replacing($0)) } ?? .fetch(standIn: nil)
        case .fetch(let stored): .fetch(standIn: stored.flatMap(cache.reopen))
        }
    }
}
