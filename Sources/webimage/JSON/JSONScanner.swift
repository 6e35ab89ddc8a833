/// Reads the members of a JSON object (RFC 8259) without converting their values: numbers of any length and texts with
/// any escapes are passed on byte for byte.
struct JSONScanner {
    /// A member of the object.
    struct Member: Equatable {
        /// The name without escapes.
        let name: String
        /// The name as written, with quotation marks.
        let rawName: ArraySlice<UInt8>
        /// The value as written.
        let value: ArraySlice<UInt8>
    }

    /// The maximum depth of nested values.
    private static let deepest = 128

    private let bytes: [UInt8]
    private var index = 0

    /// Returns the members of the object in `bytes`, which must be valid UTF-8; `nil` if they are not a JSON object.
    static func members(of bytes: [UInt8]) -> [Member]? {
        var scanner = JSONScanner(bytes)
        return scanner.object()
    }

    /// Returns the text of a JSON string; `nil` if `value` is something else, or has half of a surrogate pair.
    static func text(of value: ArraySlice<UInt8>) -> String? {
        guard value.first == UInt8(ascii: "\"") else { return nil }
        let content = value.dropFirst().dropLast()
        guard content.contains(UInt8(ascii: "\\")) else { return String(validating: content, as: UTF8.self) }
        var units: [UInt16] = []
        var rest = content
        while let byte = rest.first {
            guard byte == UInt8(ascii: "\\") else {
                let plain = rest.prefix { $0 != UInt8(ascii: "\\") }
                guard let text = String(validating: plain, as: UTF8.self) else { return nil }
                units += text.utf16
                rest = rest.dropFirst(plain.count)
                continue
            }
            let escape = rest.dropFirst().first
            rest = rest.dropFirst(2)
            switch escape {
            case UInt8(ascii: "b"): units.append(8)
            case UInt8(ascii: "f"): units.append(12)
            case UInt8(ascii: "n"): units.append(10)
            case UInt8(ascii: "r"): units.append(13)
            case UInt8(ascii: "t"): units.append(9)
            case UInt8(ascii: "u"):
                guard let unit = UInt16(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) else { return nil }
                units.append(unit)
                rest = rest.dropFirst(4)
            case let byte?: units.append(UInt16(byte))
            case nil: return nil
            }
        }
        return String(validating: units, as: UTF16.self)
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func object() -> [Member]? {
        skipBlanks()
        guard take("{") else { return nil }
        var members: [Member] = []
        skipBlanks()
        if !take("}") {
            repeat {
                skipBlanks()
                guard let name = string(), let text = Self.text(of: name) else { return nil }
                skipBlanks()
                guard take(":"), let value = value(depth: 1) else { return nil }
                members.append(Member(name: text, rawName: name, value: value))
                skipBlanks()
            } while take(",")
            guard take("}") else { return nil }
        }
        skipBlanks()
        return index == bytes.count ? members : nil
    }

    /// Returns the next value without the blanks around it.
    private mutating func value(depth: Int) -> ArraySlice<UInt8>? {
        skipBlanks()
        let start = index
        guard index < bytes.count, depth <= Self.deepest else { return nil }
        let isValid: Bool =
            switch bytes[index] {
            case UInt8(ascii: "\""): string() != nil
            case UInt8(ascii: "{"): container(end: "}", depth: depth)
            case UInt8(ascii: "["): container(end: "]", depth: depth)
            case UInt8(ascii: "t"): takeWord("true")
            case UInt8(ascii: "f"): takeWord("false")
            case UInt8(ascii: "n"): takeWord("null")
            default: number()
            }
        return isValid ? bytes[start..<index] : nil
    }

    /// Skips an object or an array.
    private mutating func container(end: Unicode.Scalar, depth: Int) -> Bool {
        let isObject = bytes[index] == UInt8(ascii: "{")
        index += 1
        skipBlanks()
        if take(end) { return true }
        repeat {
            if isObject {
                skipBlanks()
                guard string() != nil else { return false }
                skipBlanks()
                guard take(":") else { return false }
            }
            guard value(depth: depth + 1) != nil else { return false }
            skipBlanks()
        } while take(",")
        return take(end)
    }

    private mutating func string() -> ArraySlice<UInt8>? {
        let start = index
        guard take("\"") else { return nil }
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return bytes[start..<index]
            case UInt8(ascii: "\\"):
                index += 1
                guard index < bytes.count else { return nil }
                if bytes[index] == UInt8(ascii: "u") {
                    let digits = bytes[(index + 1)...].prefix(4)
                    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                        return nil
                    }
                    index += 5
                } else {
                    guard "\"\\/bfnrt".utf8.contains(bytes[index]) else { return nil }
                    index += 1
                }
            case 0..<0x20: return nil
            default: index += 1
            }
        }
        return nil
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") { guard digits() else { return false } }
        if take(".") { guard digits() else { return false } }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { return false }
        }
        return true
    }

    /// Skips one digit or more.
    private mutating func digits() -> Bool {
        let start = index
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
        return index > start
    }

    private mutating func skipBlanks() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    /// Skips `character` if it is next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Skips `word` if it is next.
    private mutating func takeWord(_ word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }
}
