package import HTTPTypes

/// The age and freshness lifetime of a stored response (RFC 9111, section 4.2).
///
/// A pure value: the caller provides the time, in seconds since 1970.
package struct StoredFreshness: Sendable, Equatable {
    /// The maximum heuristic lifetime, in seconds.
    package static let longestGuess = 24 * 3_600

    /// The freshness lifetime in seconds, counted from the creation by the origin.
    package let lifetime: Int
    /// The age in seconds when the response was received.
    package let initialAge: Int
    /// The time when the response was received, in seconds since 1970.
    package let receivedAt: Int
    /// The directives of `Cache-Control` on which the use of the response depends.
    package let directives: Directives

    /// The directives of `Cache-Control` on which the use of a stored response depends; see ``CacheControl``.
    package struct Directives: Sendable, Equatable {
        package var noCache = false
        package var mustRevalidate = false
        package var isImmutable = false
        package var staleIfError: Int?
        package var staleWhileRevalidate: Int?

        package init() {}

        init(_ control: CacheControl) {
            noCache = control.noCache
            mustRevalidate = control.mustRevalidate
            isImmutable = control.isImmutable
            staleIfError = control.staleIfError
            staleWhileRevalidate = control.staleWhileRevalidate
        }
    }

    /// Creates the freshness from values that were computed before.
    package init(lifetime: Int, initialAge: Int, receivedAt: Int, directives: Directives) {
        self.lifetime = lifetime
        self.initialAge = initialAge
        self.receivedAt = receivedAt
        self.directives = directives
    }

    package init(_ response: HTTPResponse, requestedAt: Int, receivedAt: Int) {
        let fields = response.headerFields
        let control = CacheControl(fields)
        directives = Directives(control)
        // A response without a date is dated by its arrival (RFC 9110, section 6.6.1).
        let date = fields[.date].flatMap(HTTPDate.seconds) ?? receivedAt
        let delay = max(0, receivedAt - requestedAt)
        // The first of several values counts, and an invalid one is ignored (section 5.1).
        let first = fields[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first
        let age = first.flatMap { DeltaSeconds.seconds(String($0.trimmed)) } ?? 0
        initialAge = max(receivedAt - date, age + delay, 0)
        self.receivedAt = receivedAt
        lifetime = Self.lifetime(response, control, date: date)
    }

    /// Returns the lifetime according to section 4.2.1; `s-maxage` is for shared caches.
    private static func lifetime(_ response: HTTPResponse, _ control: CacheControl, date: Int) -> Int {
        let fields = response.headerFields
        if let maxAge = control.maxAge { return maxAge }
        let expires = fields[values: .expires]
        if let first = expires.first {
            // Contradictory values, or invalid dates such as "0", are in the past (section 5.3).
            guard expires.allSatisfy({ $0 == first }), let end = HTTPDate.seconds(first) else { return 0 }
            return min(max(0, end - date), DeltaSeconds.limit)
        }
        // Section 4.2.2: a tenth of the time since the last modification, if the status or the origin allows it.
        guard control.isPublic || Storability.heuristicStatuses.contains(response.status.code),
            let modified = fields[.lastModified].flatMap(HTTPDate.seconds), modified < date
        else { return 0 }
        return min((date - modified) / 10, longestGuess)
    }

    /// Returns the age of the response in seconds (section 4.2.3).
    package func age(at now: Int) -> Int { initialAge + max(0, now - receivedAt) }

    /// Returns the time for which the response may still be used without revalidation, in seconds; 0 or less if it is
    /// stale.
    package func remaining(at now: Int) -> Int {
        directives.noCache || isAgeUnknown(at: now) ? 0 : lifetime - age(at: now)
    }

    /// Returns whether the clock has been set back since the response was received, so that its age is unknown: it
    /// counts as stale.
    private func isAgeUnknown(at now: Int) -> Bool { receivedAt > now }

    /// Returns whether the response may be used without revalidation, for a request that accepts at most `maxAge`
    /// seconds of age.
    package func isFresh(at now: Int, maxAge: Int? = nil) -> Bool {
        let age = age(at: now)
        return !directives.noCache && !isAgeUnknown(at: now) && age < lifetime && age <= maxAge ?? .max
    }

    /// Returns whether the response is fresh and does not change until it is stale, so that there is no reason to
    /// revalidate it (RFC 8246).
    package func isImmutable(at now: Int) -> Bool { directives.isImmutable && isFresh(at: now) }

    /// Returns whether the stale response may be used while it is revalidated (RFC 5861, section 3; RFC 9111, section
    /// 4.2.4).
    package func mayBeUsedWhileRevalidating(at now: Int) -> Bool {
        guard !directives.noCache, !directives.mustRevalidate, !isAgeUnknown(at: now),
            let limit = directives.staleWhileRevalidate
        else { return false }
        return age(at: now) - lifetime <= limit
    }

    /// Returns whether the stale response may be used instead of an error (RFC 5861, section 4; RFC 9111, section
    /// 4.2.4).
    package func mayStandIn(at now: Int) -> Bool {
        guard !directives.noCache, !directives.mustRevalidate, let limit = directives.staleIfError else { return false }
        return age(at: now) - lifetime <= limit
    }
}
