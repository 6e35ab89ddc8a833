import CZlib

/// A decompressor of zlib's, for data that arrive in pieces.
///
/// Not `Sendable`: used by one decoder.
@safe
package final class Inflater {
    /// The header and trailer around the data.
    package enum Format: Int32 {
        /// RFC 1952.
        case gzip = 31
        /// RFC 1950.
        case zlib = 15
        /// None (RFC 1951).
        case deflate = -15
    }

    /// The state after a piece.
    package enum Status {
        case needsMore
        /// The end of the data has been reached.
        case atEnd
        case damaged
    }

    /// The state of zlib, at a fixed address because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates a decompressor; returns `nil` if there is not enough memory.
    package init?(_ format: Format) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, format.rawValue, ZLIB_VERSION, size) == Z_OK else { return nil }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Starts over, for other data.
    package func reset() {
        unsafe inflateReset(stream)
    }

    /// Decompresses bytes of `input`, and moves `position` behind them; the result is written to `output` from `count`
    /// on, and `count` moves behind it.
    ///
    /// With a full output, the next call continues.
    package func inflate(
        _ input: Span<UInt8>, at position: inout Int, to output: inout [UInt8], at count: inout Int
    ) -> Status {
        let rest = input.extracting(position...)
        let (status, taken, produced) = unsafe rest.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { buffer in
                let target = unsafe buffer[count...]
                unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = buffer.baseAddress.map { unsafe $0 + count }
                unsafe stream.pointee.avail_out = UInt32(target.count)
                let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
                return unsafe (
                    status, source.count - Int(stream.pointee.avail_in), target.count - Int(stream.pointee.avail_out)
                )
            }
        }
        position += taken
        count += produced
        return switch status {
        // Without progress, there is no more input, or no room.
        case Z_OK, Z_BUF_ERROR: .needsMore
        case Z_STREAM_END: .atEnd
        default: .damaged
        }
    }
}
