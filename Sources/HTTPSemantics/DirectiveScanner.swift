/// A scanner for lists of `name`, `name=value`, and `name="value"` (RFC 9110, sections 5.6.1 to 5.6.6); quoted values
/// can contain commas.
struct DirectiveScanner {
    struct Directive: Equatable {
        /// The name in lowercase.
        let name: String
        let value: String?
    }

    private let bytes: [UInt8]
    private var index = 0
    /// A Boolean value that indicates whether a quoted string is unterminated or followed by unexpected characters,
    /// so that the remainder is unreliable.
    private(set) var isBroken = false

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Returns the next directive; `nil` at the end.
    ///
    /// Empty list elements are skipped.
    mutating func next() -> Directive? {
        while !isBroken, index < bytes.count {
            skipBlanks()
            let name = token()
            skipBlanks()
            var value: String?
            if current == UInt8(ascii: "=") {
                index += 1
                skipBlanks()
                value = current == UInt8(ascii: "\"") ? quoted() : token()
                skipBlanks()
            }
            // A directive that only a blank separates from the one before could forbid everything.
            if let byte = current, byte != UInt8(ascii: ","), name.isEmpty || byte == UInt8(ascii: "\"") {
                skipToSeparator()
            }
            if current == UInt8(ascii: ",") { index += 1 }
            if !name.isEmpty { return Directive(name: name.lowercased(), value: value) }
        }
        return nil
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x09 { index += 1 }
    }

    /// Reads up to the end of a name or a value; invalid characters make later comparisons fail.
    private mutating func token() -> String {
        let start = index
        while let byte = current, !#",=""#.utf8.contains(byte), byte != 0x20, byte != 0x09 { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func quoted() -> String? {
        index += 1
        var value: [UInt8] = []
        while let byte = current {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = current else { break }
                value.append(escaped)
                index += 1
            default: value.append(byte)
            }
        }
        isBroken = true
        return nil
    }

    /// Skips unexpected characters; a quote among them can hide a comma.
    private mutating func skipToSeparator() {
        while let byte = current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { isBroken = true }
            index += 1
        }
    }
}
