/// A single range of bytes in a request: `bytes=0-99`, `bytes=100-`, or `bytes=-100` (RFC 9110, section 14.1.2).
package struct ByteRange: Sendable, Equatable {
    /// The first position; `nil` for the end of the representation.
    private let first: Int?
    /// The last position, or the number of bytes at the end; `nil` for all that follows.
    private let last: Int?

    /// Parses the value of `Range`; returns `nil` for several ranges, other units, and other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmed.lowercased() == "bytes" else { return nil }
        let ends = parts[1].trimmed.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let numbers = ends.map { ContentRange.number($0) }
        guard zip(ends, numbers).allSatisfy({ $0.isEmpty || $1 != nil }), !(ends[0].isEmpty && ends[1].isEmpty) else {
            return nil
        }
        (first, last) = (numbers[0], numbers[1])
        if let first, let last, last < first { return nil }
    }

    /// The first position of a range without an end; `nil` for others.
    package var openStart: Int? { last == nil ? first : nil }

    /// Returns the positions of the range in a representation of `length` bytes; `nil` if there are none.
    package func positions(in length: Int) -> Range<Int>? {
        guard length > 0 else { return nil }
        guard let first else {
            guard let count = last, count > 0 else { return nil }
            return max(0, length - count)..<length
        }
        guard first < length else { return nil }
        return first..<min(last ?? length - 1, length - 1) + 1
    }
}
