import Glibc

extension Span<UInt8> {
    /// Returns the position of the first byte in `range` that equals `byte`; `nil` if there is none.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        // Several times as fast as a loop over the elements, even for the few bytes of a header line.
        unsafe extracting(range).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = unsafe memchr(start, Int32(byte), bytes.count) else {
                return nil
            }
            return unsafe range.lowerBound + (UnsafeRawPointer(found) - start)
        }
    }

    /// Returns whether the first bytes are the ASCII characters of `text`.
    ///
    /// `String.hasPrefix(_:)` looks for boundaries of characters, which takes longer.
    package func begins(with text: StaticString) -> Bool {
        guard text.utf8CodeUnitCount <= count else { return false }
        return text.withUTF8Buffer { characters in
            for index in 0..<characters.count where unsafe characters[index] != self[index] { return false }
            return true
        }
    }
}
