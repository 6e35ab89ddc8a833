#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Bytes that are zero at first, and take memory only where they have been written.
///
/// An array of zeros would take all of it at once. Unsafe, because no array begins as untouched pages; what keeps it in
/// bounds: ranges are checked against the bytes that were allocated.
@safe
final class CanvasBytes {
    private let count: Int
    private var bytes: UnsafeMutablePointer<UInt8>?

    /// Throws `overLimit` if there is no such memory.
    init(count: Int) throws(CodecError) {
        self.count = count
        try allocate()
    }

    deinit {
        unsafe free(bytes)
    }

    /// Makes all bytes zero, and gives their memory back.
    func clear() throws(CodecError) {
        unsafe free(bytes)
        unsafe bytes = nil
        try allocate()
    }

    /// The bytes of `range`, to read and write until the next call of ``clear()``.
    func mutable(_ range: Range<Int>) -> UnsafeMutableBufferPointer<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        guard let bytes = unsafe bytes else { return unsafe .init(start: nil, count: 0) }
        return unsafe UnsafeMutableBufferPointer(start: bytes + range.lowerBound, count: range.count)
    }

    private func allocate() throws(CodecError) {
        // Large blocks come from the system as pages that are zero without being touched.
        guard let memory = unsafe calloc(max(count, 1), 1) else {
            throw .overLimit(.memory, value: count, limit: count - 1)
        }
        unsafe bytes = memory.assumingMemoryBound(to: UInt8.self)
    }
}
