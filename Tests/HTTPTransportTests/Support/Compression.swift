import CZlib

/// Compresses bytes by zlib: with `windowBits` 31 to gzip, with 15 to zlib's format, and with -15 without a header.
func compressed(_ bytes: [UInt8], windowBits: Int32 = 31) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard deflateInit2_(&stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
        return []
    }
    defer { deflateEnd(&stream) }
    var output = [UInt8](repeating: 0, count: bytes.count + 1_024)
    let capacity = output.count
    var input = bytes
    let rest = input.withUnsafeMutableBufferPointer { source in
        output.withUnsafeMutableBufferPointer { target in
            (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
            (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(capacity))
            _ = deflate(&stream, Z_FINISH)
            return Int(stream.avail_out)
        }
    }
    return Array(output.prefix(capacity - rest))
}
