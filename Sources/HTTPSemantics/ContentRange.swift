/// The part of a representation in a response: `bytes 1000-4999/5000` (RFC 9110, section 14.4).
package struct ContentRange: Equatable {
    package let first: Int
    package let last: Int
    /// The length of the whole representation in bytes; `nil` if unknown.
    package let total: Int?

    /// Parses a byte range; returns `nil` if the text is not one.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let rangeAndTotal = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard rangeAndTotal.count == 2 else { return nil }
        let ends = rangeAndTotal[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max
        else { return nil }
        self.first = first
        self.last = last
        if rangeAndTotal[1] == "*" {
            total = nil
        } else {
            guard let total = Self.number(rangeAndTotal[1]), last < total else { return nil }
            self.total = total
        }
    }

    /// The number of bytes of the part.
    package var length: Int { last - first + 1 }

    /// Parses digits only: `Int` would also accept a sign.
    static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
