import HTTPSemantics

/// The policy for using stored responses; see ``ResponseCache``.
///
/// Requests with different policies never share a download.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
    /// Follow the rules of HTTP: use fresh responses, and revalidate stale ones, which are used if they have not
    /// changed.
    ///
    /// Images in the cache of decoded images count as fresh.
    case useProtocol
    /// Ignore stored responses and replace them with the new response.
    ///
    /// Requests are sent with `Cache-Control: no-cache`, so that intermediate caches do not answer.
    case reload
    /// Revalidate stored responses even if they are fresh, unless they are declared `immutable` (RFC 8246).
    ///
    /// Requests are sent with `Cache-Control: max-age=0`, so that intermediate caches revalidate as well.
    case revalidate
    /// Use stored responses even if they are stale, except for errors and redirects, which are used only while fresh;
    /// otherwise download and store the response.
    ///
    /// The maximum age ``ResponseCache/Configuration/maximumAge`` still applies.
    case cacheElseLoad
    /// Use stored responses as with ``cacheElseLoad``; otherwise fail with `notCached` without using the network.
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
        // A stored failure is used only while it is fresh.
        case .cacheElseLoad: return !stored.isFailure || stored.freshness.isFresh(at: now) ? .serve : .fetch
        case .cacheOnly: return !stored.isFailure || stored.freshness.isFresh(at: now) ? .serve : .fail
        case .useProtocol, .revalidate:
            // An immutable response is not revalidated (RFC 8246, section 2).
            let isFresh =
                self == .useProtocol
                ? stored.freshness.isFresh(at: now, maxAge: asked.maxAge) : stored.freshness.isImmutable(at: now)
            if isFresh, !asked.noCache { return .serve }
            return ResponseVersion(stored.fields) == nil ? .fetch : .validate
        }
    }

    /// Returns whether a stale response may be served while it is revalidated (RFC 5861, section 3).
    func servesWhileRevalidating(_ stored: StoredHead, asked: CacheControl, now: Int) -> Bool {
        self == .useProtocol && !asked.noCache && asked.maxAge == nil && !stored.isFailure
            && stored.freshness.mayBeUsedWhileRevalidating(at: now)
    }
}
