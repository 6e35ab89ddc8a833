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
}
