// The syntax of header lines (RFC 9110, section 5).
extension Span<UInt8> {
    /// Returns the position after the colon if the first `end` bytes are a field line with the lowercase name `name`;
    /// `nil` otherwise.
    func startOfValue(ofField name: StaticString, upTo end: Int) -> Int? {
        let colon = name.utf8CodeUnitCount
        guard end > colon, self[colon] == UInt8(ascii: ":"), extracting(0..<colon).equalsIgnoringCase(name) else {
            return nil
        }
        return colon + 1
    }

    /// Returns whether the bytes equal `word`, which is lowercase, ignoring case.
    func equalsIgnoringCase(_ word: StaticString) -> Bool {
        count == word.utf8CodeUnitCount && isPrefixIgnoringCase(of: word)
    }

    /// Returns whether `word`, which is lowercase, begins with the bytes, ignoring case.
    func isPrefixIgnoringCase(of word: StaticString) -> Bool {
        guard count <= word.utf8CodeUnitCount else { return false }
        let letters = unsafe UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        for index in indices where unsafe self[index].asciiLowercased != letters[index] { return false }
        return true
    }

    /// Calls the closure with each element between commas, without surrounding whitespace, of the bytes from `start` to
    /// `end`.
    func forEachElement(from start: Int, to end: Int, _ body: (Span<UInt8>) -> Void) {
        var first = start
        while first <= end {
            var comma = first
            while comma < end, self[comma] != UInt8(ascii: ",") { comma += 1 }
            var last = comma
            while first < last, self[first].isBlank { first += 1 }
            while last > first, self[last - 1].isBlank { last -= 1 }
            body(extracting(first..<last))
            first = comma + 1
        }
    }

    /// The length of a line without its end, a line feed that a carriage return can precede (RFC 9112, section 2.2).
    var lengthWithoutLineEnd: Int {
        guard count > 0, self[count - 1] == UInt8(ascii: "\n") else { return count }
        return count > 1 && self[count - 2] == UInt8(ascii: "\r") ? count - 2 : count - 1
    }
}

extension UInt8 {
    /// The byte, in lowercase if it is a letter.
    var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// A Boolean value that indicates whether the byte can be part of a field name (RFC 9110, section 5.6.2).
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"),
            UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// A Boolean value that indicates whether the byte is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
