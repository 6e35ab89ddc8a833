import CPNG

/// The compression of PNG's smaller chunks.
enum Zlib {
    /// What `bytes` unfold to; nil if they are broken, or it is more than `limit` bytes.
    static func inflate(_ bytes: Span<UInt8>, limit: Int) -> [UInt8]? {
        unsafe make { file in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe cpng_inflate(file, bytes.baseAddress, bytes.count, max(0, limit))
            }
        }
    }

    /// `bytes` compressed; nil without memory.
    static func deflate(_ bytes: Span<UInt8>) -> [UInt8]? {
        unsafe make { file in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe cpng_deflate(file, bytes.baseAddress, bytes.count)
            }
        }
    }

    private static func make(_ body: (UnsafeMutablePointer<cpng_file>) -> Bool) -> [UInt8]? {
        var file = unsafe cpng_file()
        defer { unsafe cpng_file_free(&file) }
        guard unsafe body(&file) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
