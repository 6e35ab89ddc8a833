/// The text of a URL or a reference, prepared for libcurl as browsers read it (WHATWG URL, section 4.4).
///
/// Spaces and control characters around it, and tabs and line breaks anywhere, are removed. Outside the query,
/// backslashes are slashes. Segments that consist of dots written `%2e` become dots. Bytes that may not be sent in a path
/// or a query are percent-encoded; what is encoded already does not change, so that signatures remain valid. The
/// fragment is removed. Libcurl does the remainder: whatever it then reads is both checked and requested.
struct PreparedURL {
    /// The prepared text.
    let text: String

    /// Prepares a URL.
    init(_ text: some Sequence<UInt8>) {
        self.init(text, base: nil)
    }

    /// Prepares a reference relative to a URL with the scheme `base`.
    init(_ reference: some Sequence<UInt8>, relativeTo base: String) {
        self.init(reference, base: base)
    }

    private init(_ text: some Sequence<UInt8>, base: String?) {
        let bytes = Self.withoutIgnoredBytes(text)[...]
        var rest = bytes
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        if let scheme = Self.scheme(of: bytes) {
            let name = String(decoding: scheme, as: UTF8.self).lowercased()
            guard name == "http" || name == "https" else {
                self.text = String(decoding: bytes, as: UTF8.self)
                return
            }
            rest = bytes[(scheme.endIndex + 1)...]
            // Otherwise, it is a relative reference, although it has a scheme.
            if name != base || Self.slashCount(of: rest) >= 2 {
                output += scheme
                output.append(UInt8(ascii: ":"))
                Self.moveAuthority(from: &rest, to: &output)
            }
        } else if base == nil {
            self.text = String(decoding: bytes, as: UTF8.self)
            return
        } else if Self.slashCount(of: rest) >= 2 {
            Self.moveAuthority(from: &rest, to: &output)
        }
        let hierarchy = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        Self.appendPath(hierarchy, to: &output)
        let query = rest[hierarchy.endIndex...].prefix { $0 != UInt8(ascii: "#") }
        for byte in query { Self.append(byte, to: &output, unless: Self.isEncodedInQuery) }
        self.text = String(decoding: output, as: UTF8.self)
    }

    private static func withoutIgnoredBytes(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes = text.drop { $0 <= UInt8(ascii: " ") && $0 != 0 }.filter {
            $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
        }
        // A NUL is never accepted, because C would take it for the end of the text.
        while let last = bytes.last, last <= UInt8(ascii: " "), last != 0 { bytes.removeLast() }
        return bytes
    }

    /// Returns the bytes before the colon if they are a scheme.
    private static func scheme(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = bytes.prefix { byte in
            isLetter(byte) || byte.isASCIIDigit || "+-.".utf8.contains(byte)
        }
        guard let first = scheme.first, isLetter(first), scheme.endIndex < bytes.endIndex,
            bytes[scheme.endIndex] == UInt8(ascii: ":")
        else { return nil }
        return scheme
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte.asciiLowercased)
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private static func slashCount(of bytes: ArraySlice<UInt8>) -> Int { bytes.prefix(while: isSlash).count }

    /// Moves the slashes before the authority, and the authority, which ends at a slash, a query, or a fragment.
    private static func moveAuthority(from rest: inout ArraySlice<UInt8>, to output: inout [UInt8]) {
        let slashes = rest.prefix(while: isSlash)
        output += slashes.map { _ in UInt8(ascii: "/") }
        rest = rest[slashes.endIndex...]
        let authority = rest.prefix { !isSlash($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        output += authority
        rest = rest[authority.endIndex...]
    }

    private static func appendPath(_ path: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var start = path.startIndex
        while start < path.endIndex {
            let segment = path[start...].prefix { !isSlash($0) }
            if let dots = dotSegment(segment) {
                output += dots.utf8
            } else {
                for byte in segment { append(byte, to: &output, unless: isEncodedInPath) }
            }
            start = segment.endIndex
            if start < path.endIndex {
                output.append(UInt8(ascii: "/"))
                start += 1
            }
        }
    }

    /// Returns `.` or `..` if a segment means that; each of its dots can be written `%2e`.
    private static func dotSegment(_ segment: ArraySlice<UInt8>) -> String? {
        guard segment.count <= 6 else { return nil }
        switch String(decoding: segment, as: UTF8.self).lowercased() {
        case ".", "%2e": return "."
        case "..", ".%2e", "%2e.", "%2e%2e": return ".."
        default: return nil
        }
    }

    private static func append(_ byte: UInt8, to output: inout [UInt8], unless isEncoded: (UInt8) -> Bool) {
        guard isEncoded(byte) else { return output.append(byte) }
        let digits = "0123456789ABCDEF".utf8.span
        output.append(UInt8(ascii: "%"))
        output.append(digits[Int(byte >> 4)])
        output.append(digits[Int(byte & 0xF)])
    }

    /// Returns whether a byte is in the path percent-encode set (WHATWG URL, section 1.3).
    private static func isEncodedInPath(_ byte: UInt8) -> Bool {
        isEncodedAnywhere(byte) || "^`{}".utf8.contains(byte)
    }

    /// Returns whether a byte is in the special-query percent-encode set.
    private static func isEncodedInQuery(_ byte: UInt8) -> Bool {
        isEncodedAnywhere(byte) || byte == UInt8(ascii: "'")
    }

    private static func isEncodedAnywhere(_ byte: UInt8) -> Bool {
        byte != 0 && byte <= UInt8(ascii: " ") || byte > 0x7E || "\"<>".utf8.contains(byte)
    }
}
