import HTTPSemantics

/// The policy for using stored responses; see ``ResponseCache``.
///
/// Requests with different policies never share a download.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// Follow the rules of HTTP: use fresh responses, and revalidate stale ones, which are used if they have not
    /// changed.
    ///
    /// Images in the memory cache count as fresh.
    case useProtocol
    /// Ignore stored responses and replace them with the new response.
    case reload
    /// Revalidate stored responses even if they are fresh.
    case revalidate
    /// Use stored responses regardless of their age; otherwise download and store the response.
    case cacheElseLoad
    /// Use stored responses regardless of their age; otherwise fail with `notCached` without using the network.
    case cacheOnly
    /// Neither use nor store responses; this is the behavior of SDWebImage without `UseNSURLCache`.
    case noStore

    /// A Boolean value that indicates whether decoded images of earlier requests are used.
    package var usesFinishedPixels: Bool {
        switch self {
        case .useProtocol, .cacheElseLoad, .cacheOnly: true
        case .reload, .revalidate, .noStore: false
        }
    }

    /// A Boolean value that indicates whether partial bodies are kept for the next request.
    package var keepsBeginnings: Bool {
        switch self {
        case .useProtocol, .revalidate, .cacheElseLoad, .cacheOnly: true
        case .reload, .noStore: false
        }
    }

    /// The first step for a request.
    enum Step: Equatable {
        case serve
        case validate
        case fetch
        case fail
    }

    /// Returns the first step for a request, given the stored head (RFC 9111, section 4).
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
