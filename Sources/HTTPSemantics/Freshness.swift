package import HTTPTypes

/// The age and freshness lifetime of a stored response (RFC 9111, section 4.2).
///
/// A pure value: the caller provides the time, in seconds since 1970.
package struct Freshness: Sendable, Equatable {
    /// The maximum heuristic lifetime, in seconds.
    package static let longestGuess = 24 * 3_600

    /// The freshness lifetime in seconds, counted from the creation by the origin.
    package let lifetime: Int
    /// The age in seconds when the response was received.
    package let initialAge: Int
    /// The time when the response was received, in seconds since 1970.
    package let receivedAt: Int
    private let control: CacheControl

    package init(_ response: HTTPResponse, requestedAt: Int, receivedAt: Int) {
        let fields = response.headerFields
        control = CacheControl(fields)
        // A response without a date is dated by its arrival (RFC 9110, section 6.6.1).
        let date = fields[.date].flatMap(HTTPDate.seconds) ?? receivedAt
        let delay = max(0, receivedAt - requestedAt)
        let age = fields[values: .age].first.flatMap(DeltaSeconds.seconds) ?? 0
        initialAge = max(receivedAt - date, age + delay, 0)
        self.receivedAt = receivedAt
        lifetime = Self.lifetime(fields, control, date: date)
    }

    /// Returns the lifetime according to section 4.2.1; `s-maxage` is for shared caches.
    private static func lifetime(_ fields: HTTPFields, _ control: CacheControl, date: Int) -> Int {
        if let maxAge = control.maxAge { return maxAge }
        let expires = fields[values: .expires]
        if let first = expires.first {
            // Contradictory values, or invalid dates such as "0", are in the past (section 5.3).
            guard expires.allSatisfy({ $0 == first }), let end = HTTPDate.seconds(first) else { return 0 }
            return min(max(0, end - date), DeltaSeconds.limit)
        }
        // Section 4.2.2: a tenth of the time since the last modification.
        guard let modified = fields[.lastModified].flatMap(HTTPDate.seconds), modified < date else { return 0 }
        return min((date - modified) / 10, longestGuess)
    }

    /// Returns the age of the response in seconds (section 4.2.3).
    package func age(at now: Int) -> Int { initialAge + max(0, now - receivedAt) }

    /// Returns whether the response may be used without revalidation, for a request that accepts at most `maxAge`
    /// seconds of age.
    package func isFresh(at now: Int, maxAge: Int? = nil) -> Bool {
        let age = age(at: now)
        return !control.noCache && age < lifetime && age <= maxAge ?? .max
    }

    /// Returns whether the stale response may be used instead of an error (RFC 5861, section 4; RFC 9111, section
    /// 4.2.4).
    package func mayStandIn(at now: Int) -> Bool {
        guard !control.noCache, !control.mustRevalidate, let limit = control.staleIfError else { return false }
        return age(at: now) - lifetime <= limit
    }
}
