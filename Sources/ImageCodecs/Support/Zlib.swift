import CPNG

/// The decompression of zlib.
enum Zlib {
    /// What `bytes` unfold to; nil if they are broken, or it is more than `limit` bytes.
    static func inflate(_ bytes: Span<UInt8>, limit: Int) -> [UInt8]? {
        var file = unsafe cpng_file()
        defer { unsafe cpng_file_free(&file) }
        let isWhole = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cpng_inflate(&file, bytes.baseAddress, bytes.count, max(0, limit))
        }
        guard isWhole else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
