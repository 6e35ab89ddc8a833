import CPNG

/// Writes PNG with libpng.
enum PNGEncoder {
    /// A PNG of RGBA, or of RGB where no pixel is transparent.
    static func encode(_ pixels: PixelBuffer) throws(CodecError) -> [UInt8] {
        try encode(pixels, isOpaque: pixels.isOpaque)
    }

    /// A PNG of RGB if `isOpaque`, else of RGBA.
    static func encode(_ pixels: PixelBuffer, isOpaque: Bool) throws(CodecError) -> [UInt8] {
        guard let width = UInt32(exactly: pixels.width), let height = UInt32(exactly: pixels.height) else {
            throw .encodingFailed(.png, "too many pixels a side")
        }
        var file = unsafe cpng_file()
        defer { unsafe cpng_file_free(&file) }
        let isWritten = unsafe pixels.bytes.withUnsafeBufferPointer { bytes in
            unsafe cpng_write(&file, bytes.baseAddress, width, height, isOpaque)
        }
        guard isWritten else {
            let message = unsafe withUnsafeBytes(of: file.message) { characters in
                unsafe String(decoding: characters.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw .encodingFailed(.png, message)
        }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
