import CWebP

/// Writes lossy WebP with libwebp.
enum WebPEncoder {
    static let maximumSide = 16_383

    /// A WebP of `quality` 1 to 100, with an alpha plane where a pixel is transparent.
    static func encode(_ pixels: PixelBuffer, quality: Int) throws(CodecError) -> [UInt8] {
        guard pixels.width <= maximumSide, pixels.height <= maximumSide else {
            throw .encodingFailed(.webp, "more than \(maximumSide) pixels a side")
        }
        var output: UnsafeMutablePointer<UInt8>?
        let count = unsafe pixels.bytes.withUnsafeBufferPointer { bytes in
            unsafe WebPEncodeRGBA(
                bytes.baseAddress, Int32(pixels.width), Int32(pixels.height), Int32(pixels.width * 4),
                Float(min(max(quality, 1), 100)), &output)
        }
        defer { unsafe WebPFree(output) }
        guard count > 0, let output = unsafe output else { throw .encodingFailed(.webp, "the encoder failed") }
        return unsafe Array(UnsafeBufferPointer(start: output, count: count))
    }
}
