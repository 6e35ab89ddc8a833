import CPNG

/// Decompression with zlib.
enum Zlib {
    /// Returns the decompressed `bytes`; `nil` if they are corrupt, or the result exceeds `limit` bytes.
    static func inflate(_ bytes: Span<UInt8>, limit: Int) -> [UInt8]? {
        var file = unsafe cpng_file()
        defer { unsafe cpng_file_free(&file) }
        let isComplete = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cpng_inflate(&file, bytes.baseAddress, bytes.count, max(0, limit))
        }
        guard isComplete else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
