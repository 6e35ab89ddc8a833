import Glibc

/// Zero-initialized bytes that use memory only where they have been written.
///
/// An array of zeros would use all of its memory at once, because arrays cannot consist of untouched pages. Memory
/// safety: ranges are checked against the allocated size.
@safe
final class CanvasBytes {
    private let count: Int
    private var bytes: UnsafeMutablePointer<UInt8>?

    /// Throws `overLimit` if the memory cannot be allocated.
    init(count: Int) throws(CodecError) {
        self.count = count
        try allocate()
    }

    deinit {
        unsafe free(bytes)
    }

    /// Sets all bytes to zero and returns their memory to the system.
    func clear() throws(CodecError) {
        unsafe free(bytes)
        unsafe bytes = nil
        try allocate()
    }

    /// Returns the bytes of `range` for reading and writing, valid until the next call of ``clear()``.
    func mutable(_ range: Range<Int>) -> UnsafeMutableBufferPointer<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        guard let bytes = unsafe bytes else { return unsafe .init(start: nil, count: 0) }
        return unsafe UnsafeMutableBufferPointer(start: bytes + range.lowerBound, count: range.count)
    }

    private func allocate() throws(CodecError) {
        // Large blocks are zero pages from the system that use no memory until touched.
        guard let memory = unsafe calloc(max(count, 1), 1) else {
            throw .overLimit(.memory, value: count, limit: count - 1)
        }
        unsafe bytes = memory.assumingMemoryBound(to: UInt8.self)
    }
}
