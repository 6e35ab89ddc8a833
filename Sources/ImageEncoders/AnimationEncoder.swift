public import ImageCodecs

/// Writes an animation as GIF, APNG or WebP, frame after frame.
///
/// Only what changes from frame to frame is written. Not `Sendable`: one encoder belongs to one task.
public final class AnimationEncoder {
    private let writer: any AnimationWriter
    private let format: ImageFormat
    private let size: PixelSize
    private var frameCount = 0

    /// An encoder of frames that all have the given size, shown `loopCount` times, 0 being without end.
    ///
    /// Each frame of a GIF has colors of its own, pixels with less than half alpha being transparent; it keeps no
    /// metadata. Throws `encodingFailed` for JPEG, and if the format cannot hold the size, 65,535 pixels a side being
    /// the most for GIF and 16,383 for WebP, or the metadata.
    public init(
        options: EncodingOptions, size: PixelSize, loopCount: Int = 0, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) {
        format = options.format
        self.size = size
        guard size.width > 0, size.height > 0 else { throw .encodingFailed(format, "it has no pixels") }
        let loopCount = UInt16(clamping: loopCount)
        writer = try options.encoder.animationWriter(size: size, loopCount: loopCount, metadata: metadata)
    }

    /// The same for `format`, all else being usual; `quality`, 1 to 100, is for WebP.
    public convenience init(
        format: ImageFormat, size: PixelSize, loopCount: Int = 0, quality: Int = 85
    ) throws(CodecError) {
        try self.init(options: try EncodingOptions(format, quality: quality), size: size, loopCount: loopCount)
    }

    /// Adds a frame that is shown for `delay`, as finely as the format can say it: hundredths of a second in GIF, at
    /// least two, thousandths in others.
    ///
    /// Throws `encodingFailed` if the frame is of another size, or the encoder refuses it.
    public func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        guard frame.size == size else {
            throw .encodingFailed(format, "a frame of \(frame.size) in an animation of \(size)")
        }
        frameCount += 1
        try writer.append(frame.converted(to: .rgba8), delay: max(delay, .zero))
    }

    /// The file; to be called once, after the last frame.
    ///
    /// Throws `encodingFailed` if there was no frame.
    public func finish() throws(CodecError) -> [UInt8] {
        guard frameCount > 0 else { throw .encodingFailed(format, "it has no frames") }
        return try writer.finish()
    }
}

@available(*, unavailable)
extension AnimationEncoder: Sendable {}
