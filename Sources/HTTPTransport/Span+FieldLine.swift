// The syntax of header lines (RFC 9110, section 5).
extension Span<UInt8> {
    /// Returns whether the first `end` bytes are a field line with the lowercase name `name`.
    func isField(_ name: [UInt8], upTo end: Int) -> Bool {
        end > name.count && self[name.count] == UInt8(ascii: ":") && extracting(0..<name.count).equalsIgnoringCase(name)
    }

    /// Returns whether the bytes equal `word`, which is lowercase, ignoring case.
    func equalsIgnoringCase(_ word: [UInt8]) -> Bool {
        count == word.count && word.indices.allSatisfy { self[$0].asciiLowercased == word[$0] }
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

    /// The length of a line without its end.
    var lengthWithoutLineEnd: Int {
        var end = count
        while end > 0, self[end - 1] == UInt8(ascii: "\n") || self[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return end
    }
}

extension UInt8 {
    /// The byte, in lowercase if it is a letter.
    var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// A Boolean value that indicates whether the byte is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
