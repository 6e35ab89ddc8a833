package import HTTPTypes

/// The directives of `Cache-Control` in a request or response (RFC 9111, section 5.2) that matter to a private cache, and
/// those that it passes on to others.
///
/// A pure value. Invalid directives are interpreted strictly, so that no response is used longer than its origin
/// intended.
package struct CacheControl: Sendable, Equatable {
    /// A Boolean value that indicates whether the response must not be stored.
    package private(set) var noStore = false
    /// A Boolean value that indicates whether the response must be revalidated before use; also set if that applies
    /// to some fields only.
    package private(set) var noCache = false
    /// A Boolean value that indicates whether the response must never be used stale.
    package private(set) var mustRevalidate = false
    /// A Boolean value that indicates whether shared caches must never use the response stale.
    package private(set) var proxyRevalidate = false
    /// A Boolean value that indicates whether intermediaries must not transform the body.
    package private(set) var noTransform = false
    /// A Boolean value that indicates whether the response contains `must-understand`: only caches that understand its
    /// status may store it, and they ignore `no-store`.
    package private(set) var mustUnderstand = false
    /// The freshness lifetime or maximum age, in seconds.
    package private(set) var maxAge: Int?
    /// A Boolean value that indicates whether the response is explicitly cacheable, regardless of its status.
    package private(set) var isPublic = false
    /// A Boolean value that indicates whether the response never changes while it is fresh (RFC 8246).
    package private(set) var isImmutable = false
    /// The time in seconds for which the response may be used stale instead of an error (RFC 5861, section 4).
    package private(set) var staleIfError: Int?
    /// The time in seconds for which the response may be used stale while it is revalidated (RFC 5861, section 3).
    package private(set) var staleWhileRevalidate: Int?
    /// A Boolean value that indicates whether only private caches may store the response; also set if that applies to
    /// some fields only.
    package private(set) var isPrivate = false
    /// The freshness lifetime in shared caches, in seconds.
    package private(set) var sharedMaxAge: Int?

    /// Returns whether a response with a status may be stored.
    ///
    /// `must-understand` excludes statuses that the cache does not understand, and otherwise takes precedence over
    /// `no-store` (section 5.2.2.3).
    package func allowsStoring(_ status: Int) -> Bool {
        mustUnderstand ? Storability.understoodStatuses.contains(status) : !noStore
    }

    /// Parses the fields of a request or a response; `Pragma` applies only to requests without `Cache-Control`.
    package init(_ fields: HTTPFields, isRequest: Bool = false) {
        let lines = fields[values: .cacheControl]
        for line in lines { read(line) }
        if lines.isEmpty, isRequest, let pragma = Self.pragma,
            fields[values: pragma].contains(where: { $0.lowercased().contains("no-cache") })
        {
            noCache = true
        }
    }

    private static let pragma = HTTPField.Name("Pragma")

    private mutating func read(_ line: String) {
        var scanner = DirectiveScanner(line)
        while let directive = scanner.next() { take(directive) }
        // The part that follows could contain a directive that forbids everything.
        if scanner.isBroken { noCache = true }
    }

    private mutating func take(_ directive: DirectiveScanner.Directive) {
        switch directive.name {
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "no-transform": noTransform = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "immutable": isImmutable = true
        // If repeated, the shorter value is used (section 4.2.1 leaves the choice).
        case "max-age": maxAge = min(maxAge ?? .max, DeltaSeconds.seconds(directive.value ?? "") ?? 0)
        case "stale-if-error":
            staleIfError = min(staleIfError ?? .max, DeltaSeconds.seconds(directive.value ?? "") ?? 0)
        case "stale-while-revalidate":
            staleWhileRevalidate = min(
                staleWhileRevalidate ?? .max, DeltaSeconds.seconds(directive.value ?? "") ?? 0)
        case "s-maxage":
            sharedMaxAge = min(sharedMaxAge ?? .max, DeltaSeconds.seconds(directive.value ?? "") ?? 0)
        default: break  // others are unknown (section 5.2.3), or say nothing about storing
        }
    }
}

/// Parsing of seconds in header fields (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
    /// The maximum; larger values mean "very long" and could overflow when added.
    package static let limit = 1 << 31

    /// Returns the number of seconds; `nil` if the text contains anything but digits.
    package static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty else { return nil }
        var seconds = 0
        for byte in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            seconds = min(limit, seconds * 10 + Int(byte - UInt8(ascii: "0")))
        }
        return seconds
    }
}
