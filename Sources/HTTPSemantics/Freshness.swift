package import HTTPTypes

/// How long a response stays fresh after a certain time (RFC 9111, section 4.2), and what others may do with it.
public struct Freshness: Sendable, Hashable {
    /// The time for which the response can be used without asking its origin, in whole seconds; zero or negative if it
    /// is stale.
    ///
    /// Without `max-age` and `Expires`, it is estimated: a tenth of the time since the last modification, one day at
    /// most.
    public let remaining: Duration
    /// A Boolean value that indicates whether a private cache may store the response to a request for its URL alone.
    public let isStorable: Bool
    /// A Boolean value that indicates whether only the caches of single users may store the response, not shared ones
    /// such as those of proxies.
    ///
    /// Whether the request contained credentials does not count.
    public let isPrivate: Bool
    /// The time after it becomes stale for which the response can be used while it is revalidated (RFC 5861); `nil` if
    /// it must not be used stale.
    public let staleWhileRevalidate: Duration?

    /// The remaining time in shared caches, if the origin declares another one for them, in seconds.
    private let sharedSeconds: Int?
    private let noCache: Bool
    private let mustRevalidate: Bool
    private let proxyRevalidate: Bool
    private let noTransform: Bool
    /// A Boolean value that indicates whether redirects led to the response, whose own freshness is unknown.
    private let isRedirected: Bool

    /// A Boolean value that indicates whether the response can be used without asking its origin.
    public var isFresh: Bool { remaining > .zero }

    /// Creates the freshness at `now` of a response to a GET request; times are in seconds since 1970.
    package init(_ response: HTTPResponse, requestedAt: Int, receivedAt: Int, at now: Int, isRedirected: Bool = false) {
        let stored = StoredFreshness(response, requestedAt: requestedAt, receivedAt: receivedAt)
        let control = CacheControl(response.headerFields)
        remaining = .seconds(stored.remaining(at: now))
        isStorable = Storability.allows(.get, [:], response, redirectCount: 0, receivedAt: receivedAt)
        isPrivate = control.isPrivate
        noCache = control.noCache
        mustRevalidate = control.mustRevalidate
        proxyRevalidate = control.proxyRevalidate
        noTransform = control.noTransform
        self.isRedirected = isRedirected
        let isAgeUnknown = receivedAt > now
        staleWhileRevalidate =
            noCache || mustRevalidate || isAgeUnknown ? nil : control.staleWhileRevalidate.map { .seconds($0) }
        sharedSeconds = control.sharedMaxAge.map { isAgeUnknown ? 0 : $0 - stored.age(at: now) }
    }

    /// Returns the value of `Cache-Control` with which to send the response, or what has been made of it, to clients of
    /// your own: they never use it longer than the origin allows.
    ///
    /// It contains the remaining time, but no more than `maximum`, and the restrictions of the origin. A response that
    /// is stale, or must be revalidated before each use, is sent so that clients revalidate it with you. So is one to
    /// which redirects led: how long they stay fresh is unknown here.
    ///
    /// Credentials of your request do not count. If you send any, such as cookies, and not every client may see the
    /// response, set `isPrivate`, which keeps it out of shared caches.
    public func cacheControl(maximum: Duration? = nil, isPrivate: Bool = false) -> String {
        guard isStorable else { return "no-store" }
        let isPrivate = isPrivate || self.isPrivate
        var directives = isPrivate ? ["private"] : []
        if noTransform { directives.append("no-transform") }
        guard !noCache, !isRedirected else { return (directives + ["no-cache"]).joined(separator: ", ") }
        let limit = maximum.map { $0.components.seconds } ?? .max
        let seconds = max(0, min(remaining.components.seconds, limit))
        directives.append("max-age=\(seconds)")
        if let sharedSeconds, !isPrivate {
            directives.append("s-maxage=\(max(0, min(Int64(sharedSeconds), seconds)))")
        }
        if mustRevalidate { directives.append("must-revalidate") }
        let sharedMustRevalidate = proxyRevalidate && !isPrivate
        if sharedMustRevalidate { directives.append("proxy-revalidate") }
        // A part of the time may have passed.
        if !sharedMustRevalidate,
            let stale = staleWhileRevalidate.map({ ($0 + min(remaining, .zero)).components.seconds }), stale > 0
        {
            directives.append("stale-while-revalidate=\(stale)")
        }
        return directives.joined(separator: ", ")
    }
}
