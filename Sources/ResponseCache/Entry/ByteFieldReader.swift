extension [UInt8] {
    /// Appends eight bytes in little-endian order.
    mutating func append(_ number: Int) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends four bytes in little-endian order.
    mutating func append(_ number: UInt32) {
        for shift in stride(from: 0, to: 32, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends bytes, preceded by their number.
    mutating func append(bytes: [UInt8]) {
        append(bytes.count)
        self += bytes
    }

    /// Appends a text, preceded by its length.
    mutating func append(text: String) {
        append(text.utf8.count)
        self += text.utf8
    }
}

/// Reads fields in the order in which they were written; returns `nil` if a field extends beyond the data.
struct ByteFieldReader {
    let all: [UInt8]
    /// The position of the next field.
    private(set) var index: Int
    private let end: Int

    init(_ bytes: [UInt8], from index: Int = 0) {
        self.init(bytes, in: index..<max(index, bytes.count))
    }

    /// Creates a reader of the fields at a position, which is inside `bytes`.
    init(_ bytes: [UInt8], in positions: Range<Int>) {
        all = bytes
        index = positions.lowerBound
        end = positions.upperBound
    }

    var isAtEnd: Bool { index == end }

    mutating func number() -> Int? {
        guard let low = number32(), end - index >= 4, let high = number32() else { return nil }
        let number = Int(truncatingIfNeeded: UInt64(high) << 32 | UInt64(low))
        return number >= 0 ? number : nil
    }

    mutating func number32() -> UInt32? {
        guard end - index >= 4 else { return nil }
        defer { index += 4 }
        return UInt32(all[index]) | UInt32(all[index + 1]) << 8 | UInt32(all[index + 2]) << 16
            | UInt32(all[index + 3]) << 24
    }

    /// Returns the position of bytes preceded by their number.
    mutating func positions() -> Range<Int>? {
        guard let count = number(), count <= end - index else { return nil }
        defer { index += count }
        return index..<index + count
    }

    mutating func bytes() -> [UInt8]? { positions().map { Array(all[$0]) } }

    mutating func text() -> String? { positions().map { String(decoding: all[$0], as: UTF8.self) } }
}
