package import HTTPTypes

/// How old a stored response is, and for how long it may be used without asking (RFC 9111, section 4.2).
///
/// A pure value: the time, in seconds since 1970, comes from outside.
package struct Freshness: Sendable, Equatable {
    /// Most seconds that are guessed for a response that says nothing.
    package static let longestGuess = 24 * 3_600

    /// For how many seconds the response is fresh, from the moment in which its origin made it.
    package let lifetime: Int
    /// How old it was when it came.
    package let initialAge: Int
    /// When it came.
    package let receivedAt: Int
    private let control: CacheControl

    package init(_ response: HTTPResponse, requestedAt: Int, receivedAt: Int) {
        let fields = response.headerFields
        control = CacheControl(fields)
        // A response without a date is as old as its arrival (RFC 9110, section 6.6.1).
        let date = fields[.date].flatMap(HTTPDate.seconds) ?? receivedAt
        let delay = max(0, receivedAt - requestedAt)
        let age = fields[values: .age].first.flatMap(DeltaSeconds.seconds) ?? 0
        initialAge = max(receivedAt - date, age + delay, 0)
        self.receivedAt = receivedAt
        lifetime = Self.lifetime(fields, control, date: date)
    }

    /// Section 4.2.1; `s-maxage` is for shared caches.
    private static func lifetime(_ fields: HTTPFields, _ control: CacheControl, date: Int) -> Int {
        if let maxAge = control.maxAge { return maxAge }
        let expires = fields[values: .expires]
        if let first = expires.first {
            // Two that differ, or one that is no date such as "0", are in the past (section 5.3).
            guard expires.allSatisfy({ $0 == first }), let end = HTTPDate.seconds(first) else { return 0 }
            return min(max(0, end - date), DeltaSeconds.limit)
        }
        // Section 4.2.2: a tenth of the time for which it has not changed.
        guard let modified = fields[.lastModified].flatMap(HTTPDate.seconds), modified < date else { return 0 }
        return min((date - modified) / 10, longestGuess)
    }

    /// How old the response is (section 4.2.3).
    package func age(at now: Int) -> Int { initialAge + max(0, now - receivedAt) }

    /// Returns whether it may be used without asking, by a request that wants it to be at most `maxAge` seconds old.
    package func isFresh(at now: Int, maxAge: Int? = nil) -> Bool {
        let age = age(at: now)
        return !control.noCache && age < lifetime && age <= maxAge ?? .max
    }

    /// Returns whether it may stand in for an answer that does not come (RFC 5861, section 4; RFC 9111, section 4.2.4).
    package func mayStandIn(at now: Int) -> Bool {
        guard !control.noCache, !control.mustRevalidate, let limit = control.staleIfError else { return false }
        return age(at: now) - lifetime <= limit
    }
}
