package import HTTPTypes

/// What `Cache-Control` says of a request or a response (RFC 9111, section 5.2), as far as it means something to a
/// private cache.
///
/// A pure value. What cannot be read is taken as the stricter meaning, so that nothing is used longer than its origin
/// may have wanted.
package struct CacheControl: Sendable, Equatable {
    /// Not to be kept.
    package private(set) var noStore = false
    /// Not to be used without asking; also if it says so for some fields only.
    package private(set) var noCache = false
    /// Not to be used stale, whatever the reason.
    package private(set) var mustRevalidate = false
    /// Only caches that know the status may keep it, and those may although it says `no-store`.
    package private(set) var mustUnderstand = false
    /// For how many seconds it is fresh, or how old it may be.
    package private(set) var maxAge: Int?
    /// For how many seconds it may stand in for an answer that does not come (RFC 5861, section 4).
    package private(set) var staleIfError: Int?

    /// A Boolean value that indicates whether a response may be kept by who knows its status.
    package var allowsStoring: Bool { !noStore || mustUnderstand }

    /// What the fields of a request or a response say; `Pragma` counts for requests without `Cache-Control` only.
    package init(_ fields: HTTPFields, isRequest: Bool = false) {
        let lines = fields[values: .cacheControl]
        for line in lines { read(line) }
        if lines.isEmpty, isRequest, let pragma = HTTPField.Name("Pragma"),
            fields[values: pragma].contains(where: { $0.lowercased().contains("no-cache") })
        {
            noCache = true
        }
    }

    private mutating func read(_ line: String) {
        var scanner = DirectiveScanner(line)
        while let directive = scanner.next() { take(directive) }
        // What follows may have been a directive that forbids everything.
        if scanner.isBroken { noCache = true }
    }

    private mutating func take(_ directive: DirectiveScanner.Directive) {
        switch directive.name {
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        // Twice is once: of two values the shorter (section 4.2.1 leaves the choice).
        case "max-age": maxAge = min(maxAge ?? .max, DeltaSeconds.seconds(directive.value ?? "") ?? 0)
        case "stale-if-error":
            staleIfError = min(staleIfError ?? .max, DeltaSeconds.seconds(directive.value ?? "") ?? 0)
        default: break  // others are for shared caches, or not known (section 5.2.3)
        }
    }
}

/// Numbers of seconds in header fields (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
    /// What is larger than this means "very long", and could not be added up.
    package static let limit = 1 << 31

    /// Nil if the text has anything but digits.
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
