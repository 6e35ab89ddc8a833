import HTTPSemantics

/// What a stored response may be used for; see ``ResponseCache``.
///
/// Requests of different policies never share a download.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// As HTTP has it: fresh responses are used, stale ones are asked for again, and used if they have not changed.
    ///
    /// The memory cache of finished pixels counts as fresh.
    case useProtocol
    /// Whatever is stored is not used; the new response takes its place.
    case reload
    /// The origin is asked whether the stored response is still right, even if it is fresh.
    case revalidate
    /// What is stored is used however old it is; without it the response is downloaded and stored.
    case cacheElseLoad
    /// What is stored is used however old it is; without it the request fails with `notCached`, and nobody is asked.
    case cacheOnly
    /// Nothing stored is used, and nothing is stored: what SDWebImage does without `UseNSURLCache`.
    case noStore

    /// Whether finished pixels of an earlier request will do.
    package var usesFinishedPixels: Bool {
        switch self {
        case .useProtocol, .cacheElseLoad, .cacheOnly: true
        case .reload, .revalidate, .noStore: false
        }
    }

    /// Whether what has come of a body that is given up is kept for the next request.
    package var keepsBeginnings: Bool {
        switch self {
        case .useProtocol, .revalidate, .cacheElseLoad, .cacheOnly: true
        case .reload, .noStore: false
        }
    }

    /// What is to be done first.
    enum Step: Equatable {
        case serve
        case validate
        case fetch
        case fail
    }

    /// What is to be done about a request, given what is stored (RFC 9111, section 4).
    func step(stored: StoredHead?, asked: CacheControl, now: Int) -> Step {
        guard let stored else { return self == .cacheOnly ? .fail : .fetch }
        switch self {
        case .reload, .noStore: return .fetch
        case .cacheElseLoad, .cacheOnly: return .serve
        case .useProtocol, .revalidate:
            let isFresh =
                self == .useProtocol && !asked.noCache
                && stored.freshness.isFresh(at: now, maxAge: asked.maxAge)
            if isFresh { return .serve }
            return ResponseVersion(stored.fields) == nil ? .fetch : .validate
        }
    }
}
