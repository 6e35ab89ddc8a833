/// A use of a cache.
package enum CacheUse: Sendable, CaseIterable {
    /// A stored response is served.
    case hit
    /// A stored response is served if the origin confirms that it is current.
    case revalidation
    /// There is no stored response that can be used.
    case miss
    /// A stored response is removed to make room.
    case eviction
}

extension CacheDecision {
    /// The use that the decision is; `nil` if it is known only later.
    ///
    /// A long response counts as a hit only once it turns out to be readable, and of several hops, each one counts.
    var use: CacheUse? {
        switch self {
        case .serve(let reply): reply.body == nil ? nil : .hit
        case .revalidate: .revalidation
        case .resume, .fetch, .refuse: .miss
        case .undecided: nil
        }
    }
}
