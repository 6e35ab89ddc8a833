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
    /// Each frame of a GIF has colours of its own, pixels with less than half alpha being transparent; it keeps no
    /// metadata. Throws `encodingFailed` for JPEG, and if the format cannot hold the size, 65,535 pixels a side being
    /// the most for GIF and 16,383 for WebP, or the metadata.
    public init(
        options: EncodingOptions, size: PixelSize, loopCount: Int = 0, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) {
        format = options.format
        self.size = size
        guard size.width > 0, size.height > 0 else { throw .encodingFailed(format, "it has no pixels") }
        let loopCount = UInt16(clamping: loopCount)
        switch options {
        case .gif(let options): writer = try GIFAnimationWriter(size: size, loopCount: loopCount, options: options)
        case .png(let options):
            writer = try APNGWriter(size: size, loopCount: loopCount, options: options, metadata: metadata)
        case .webp(let options):
            writer = try WebPAnimationWriter(size: size, loopCount: loopCount, options: options, metadata: metadata)
        case .jpeg: throw .encodingFailed(.jpeg, "JPEG has no animations")
        }
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

/// What each format's folder provides: frames in, a file out.
protocol AnimationWriter: AnyObject {
    /// Takes the next frame, of the animation's size.
    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError)
    /// The file, after at least one frame.
    func finish() throws(CodecError) -> [UInt8]
}

extension AnimationDecoder {
    /// The animation as a file, its frames as large and upright as the options of the image ask, with `metadata` in it.
    ///
    /// A still image is written as one. Throws what ``AnimationDecoder`` and ``AnimationEncoder`` throw.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        guard image.frameCount > 1 else { return try frame(at: 0).encoded(with: options, metadata: metadata) }
        let encoder = try AnimationEncoder(
            options: options, size: image.size, loopCount: image.loopCount, metadata: metadata)
        for index in 0..<image.frameCount { try encoder.append(try frame(at: index), delay: image.delay(at: index)) }
        return try encoder.finish()
    }
}

extension AnimatedImage {
    /// The animation as a file, as ``AnimationDecoder/encoded(with:metadata:)`` writes it.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        try AnimationDecoder(self, windowBytes: 0).encoded(with: options, metadata: metadata)
    }

    /// The same for `format`, all else being usual; `quality`, 1 to 100, is for JPEG and WebP.
    public func encoded(as format: ImageFormat, quality: Int = 85) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodingOptions(format, quality: quality))
    }
}
