/// The names and signs of a Swift source, without comments, the conditions of conditional compilation, and the text of
/// string literals.
struct SourceTokens {
    /// A name, or one sign such as `{`.
    enum Token: Equatable {
        case name(String)
        case sign(Unicode.Scalar)
    }

    /// The tokens of the source in order.
    private(set) var tokens: [Token] = []
    private let bytes: [UInt8]
    private var offset = 0

    init(_ source: String) {
        bytes = Array(source.utf8)
        readCode(untilParenthesis: false)
    }

    private func byte(_ distance: Int = 0) -> UInt8 {
        offset + distance < bytes.count ? bytes[offset + distance] : 0
    }

    private func begins(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in (0..<text.count).allSatisfy { byte($0) == text[$0] } }
    }

    /// Reads up to the end, or up to the parenthesis that ends an interpolation.
    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while offset < bytes.count {
            let byte = byte()
            if begins("//") || begins("#if ") || begins("#elseif ") {
                while offset < bytes.count, self.byte() != UInt8(ascii: "\n") { offset += 1 }
            } else if begins("/*") {
                skipComment()
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#") && beginsRawString {
                readString()
            } else if Self.isNamePart(byte) {
                let start = offset
                while Self.isNamePart(self.byte()) { offset += 1 }
                tokens.append(.name(String(decoding: bytes[start..<offset], as: UTF8.self)))
            } else {
                offset += 1
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") {
                    depth -= 1
                    if untilParenthesis, depth < 0 { return }
                }
                if byte > 32, byte != UInt8(ascii: "`") { tokens.append(.sign(Unicode.Scalar(byte))) }
            }
        }
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if begins("/*") {
                depth += 1
                offset += 2
            } else if begins("*/") {
                depth -= 1
                offset += 2
            } else {
                offset += 1
            }
        } while depth > 0 && offset < bytes.count
    }

    /// A Boolean value that indicates whether signs `#` and a quotation mark follow.
    private var beginsRawString: Bool {
        var distance = 0
        while byte(distance) == UInt8(ascii: "#") { distance += 1 }
        return byte(distance) == UInt8(ascii: "\"")
    }

    /// Skips a string literal, except for its interpolations.
    private mutating func readString() {
        var hashes = 0
        while byte() == UInt8(ascii: "#") {
            hashes += 1
            offset += 1
        }
        let quotes = begins("\"\"\"") ? 3 : 1
        offset += quotes
        while offset < bytes.count {
            if isFollowed(by: quotes, hashes: hashes) {
                offset += quotes + hashes
                return
            }
            guard byte() == UInt8(ascii: "\\"), (0..<hashes).allSatisfy({ byte(1 + $0) == UInt8(ascii: "#") }) else {
                offset += 1
                continue
            }
            offset += 1 + hashes
            let isInterpolation = byte() == UInt8(ascii: "(")
            offset += 1
            if isInterpolation { readCode(untilParenthesis: true) }
        }
    }

    private func isFollowed(by quotes: Int, hashes: Int) -> Bool {
        (0..<quotes).allSatisfy { byte($0) == UInt8(ascii: "\"") }
            && (0..<hashes).allSatisfy { byte(quotes + $0) == UInt8(ascii: "#") }
    }
}
