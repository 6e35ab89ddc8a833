/// Reads numbers and names at a nonnegative offset; returns `nil` if the bytes have not been received.
extension Span<UInt8> {
    package func byte(at offset: Int) -> Int? {
        offset < count ? Int(self[offset]) : nil
    }

    package func bigEndian16(at offset: Int) -> Int? {
        bigEndian(2, at: offset)
    }

    package func bigEndian32(at offset: Int) -> Int? {
        bigEndian(4, at: offset)
    }

    package func littleEndian16(at offset: Int) -> Int? {
        littleEndian(2, at: offset)
    }

    package func littleEndian24(at offset: Int) -> Int? {
        littleEndian(3, at: offset)
    }

    package func littleEndian32(at offset: Int) -> Int? {
        littleEndian(4, at: offset)
    }

    /// Returns whether the ASCII characters of `name` are at `offset`.
    package func has(_ name: StaticString, at offset: Int) -> Bool {
        guard has(name.utf8CodeUnitCount, at: offset) else { return false }
        return name.withUTF8Buffer { characters in
            for index in 0..<characters.count where unsafe characters[index] != self[offset + index] { return false }
            return true
        }
    }

    /// Returns whether the span contains `length` bytes from `offset`.
    package func has(_ length: Int, at offset: Int) -> Bool {
        offset <= count && length <= count - offset
    }

    private func bigEndian(_ length: Int, at offset: Int) -> Int? {
        guard has(length, at: offset) else { return nil }
        var value = 0
        for index in 0..<length { value = value << 8 | Int(self[offset + index]) }
        return value
    }

    private func littleEndian(_ length: Int, at offset: Int) -> Int? {
        guard has(length, at: offset) else { return nil }
        var value = 0
        for index in 0..<length { value |= Int(self[offset + index]) << (8 * index) }
        return value
    }
}
