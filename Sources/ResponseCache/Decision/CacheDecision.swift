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
    /// Decide again when the request is sent: a stored response cannot be used without the network, or a stored redirect
    /// leads to a response that is not stored.
    case undecided
    /// Fail, because nothing is stored and the network must not be used.
    case refuse

    /// The decision without a stored response.
    static func withoutResponse(_ policy: CachePolicy) -> CacheDecision {
        policy == .cacheOnly ? .refuse : .fetch(standIn: nil)
    }

    /// A Boolean value that indicates whether the response to serve is stale: the caller must revalidate it afterward.
    package var needsRevalidation: Bool {
        if case .serve(let reply) = self { reply.needsRevalidation } else { false }
    }

    /// A Boolean value that indicates whether no network is needed.
    package var isLocal: Bool {
        switch self {
        case .serve, .refuse: true
        case .revalidate, .resume, .fetch, .undecided: false
        }
    }

    /// The stored response to serve if its whole body has been read, and nothing else has to be done.
    package var completeReply: (reply: StoredReply, body: [UInt8])? {
        guard case .serve(let reply) = self, let body = reply.body, !reply.needsRevalidation else { return nil }
        return (reply, body)
    }

    /// The complete stored response that can be served after asking the origin, if any.
    var stored: StoredResponse? {
        switch self {
        case .revalidate(let stored): stored
        case .fetch(let stored): stored
        case .serve, .resume, .undecided, .refuse: nil
        }
    }

    /// A Boolean value that indicates whether nothing is stored that is of use.
    package var isMiss: Bool {
        if case .fetch(standIn: nil) = self { true } else { false }
    }

    /// The decision without open files, which a waiting request must not hold: the cache is asked again.
    var closed: CacheDecision { isLocal || isMiss ? self : .undecided }
}
