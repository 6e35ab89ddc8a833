public import ImageCodecs

/// Encodes an animation as GIF, APNG, or WebP, one frame at a time.
///
/// Only changes between frames are written. An encoder is not `Sendable`: use it in only one task at a time.
public final class AnimationEncoder {
    private let writer: any AnimationWriter
    private let format: ImageFormat
    private let size: PixelSize
    private var frameCount = 0

    /// Creates an encoder of frames with the given size, played `repetitionCount` times; 0 means forever.
    ///
    /// Each GIF frame has its own palette, and its pixels with less than half alpha are transparent; metadata is
    /// ignored for GIF. Throws `encodingFailed` for JPEG, for metadata that is too long for APNG or WebP, and for a
    /// size that the format cannot store: more than 65,535 pixels per side for GIF, or 16,383 for WebP.
    public init(
        options: EncodeOptions, size: PixelSize, repetitionCount: Int = 0, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) {
        format = options.format
        self.size = size
        guard size.width > 0, size.height > 0 else { throw .encodingFailed(format, "it has no pixels") }
        let repetitionCount = UInt16(clamping: repetitionCount)
        writer = try options.encoder.animationWriter(size: size, repetitionCount: repetitionCount, metadata: metadata)
    }

    /// Creates an encoder for `format` with default options; `quality`, 1 to 100, applies to WebP.
    public convenience init(
        format: ImageFormat, size: PixelSize, repetitionCount: Int = 0, quality: Int = 85
    ) throws(CodecError) {
        try self.init(
            options: try EncodeOptions(format, quality: quality), size: size, repetitionCount: repetitionCount)
    }

    /// Adds a frame that is shown for `delay`, rounded to milliseconds.
    ///
    /// In GIF, the delay is rounded to hundredths of a second, and is either zero or at least 0.02 seconds. In APNG, a
    /// delay of more than 65.535 seconds is rounded to tenths of a second. Throws `encodingFailed` if the frame has a
    /// different size, or the encoder rejects it.
    public func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        guard frame.size == size else {
            throw .encodingFailed(format, "a frame of \(frame.size) in an animation of \(size)")
        }
        frameCount += 1
        try writer.append(frame.converted(to: .rgba8), delay: max(delay, .zero))
    }

    /// Returns the encoded file.
    ///
    /// Call this method once, after the last frame. Throws `encodingFailed` if there are no frames.
    public func finish() throws(CodecError) -> [UInt8] {
        guard frameCount > 0 else { throw .encodingFailed(format, "it has no frames") }
        return try writer.finish()
    }
}

@available(*, unavailable)
extension AnimationEncoder: Sendable {}
