/// Reads bits starting with the lowest bit of each byte.
///
/// After the end, all bits are zero, so results are valid only if ``isPastEnd(of:)`` is then false.
struct LowBitReader {
    /// The number of bits read.
    var position = 0

    /// Returns the next bits, at most 24, without consuming them.
    func peek(_ count: Int, in bytes: Span<UInt8>) -> Int {
        let first = position >> 3
        var value = 0
        for index in first..<max(first, min(first + 4, bytes.count)) {
            value |= Int(bytes[index]) << ((index - first) * 8)
        }
        return value >> (position & 7) & (1 << count - 1)
    }

    /// Reads the next bits, at most 24.
    mutating func read(_ count: Int, in bytes: Span<UInt8>) -> Int {
        defer { position += count }
        return peek(count, in: bytes)
    }

    /// Returns whether more bits have been read than exist.
    func isPastEnd(of bytes: Span<UInt8>) -> Bool { position > bytes.count * 8 }
}
