public import ImageCodecs

/// Encodes an animation as GIF, APNG, or WebP, or in the format of another encoder, one frame at a time.
///
/// In these three, only changes between frames are written; in lossy WebP, only those that can be seen at its quality. A WebP frame
/// without changes extends the one before it, unless it is the last of equal frames only.
///
/// An encoder holds the compressed frames, at most ``defaultMaximumBytes`` bytes by default, and while the file grows,
/// up to twice as many. In addition, it needs up to 40 bytes per pixel of a frame, and other encoders what
/// ``ImageEncoder/animationBytes(for:)`` returns. After an error, discard the encoder. An encoder is not `Sendable`: use it in only one task at a time.
public final class AnimationEncoder {
    /// The default maximum size of an encoded animation, in bytes: 512 MiB, the same as for decoding
    /// (`DecodeLimits.maximumBytes`).
    public static let defaultMaximumBytes = 512 << 20

    /// The number of bytes of the encoded file that are in memory so far.
    ///
    /// The last frame of a GIF is compressed only when the next one is added, or the file is finished.
    public private(set) var byteCount = 0

    private let writer: any AnimationWriter
    private let format: ImageFormat
    private let size: PixelSize
    private let maximumBytes: Int
    private var frameCount = 0

    /// Creates an encoder of frames with the given size, played `repetitionCount` times; 0 means forever.
    ///
    /// The most that a file can store is 65,536 times for GIF, 65,535 for WebP, and 2,147,483,647 for APNG.
    ///
    /// A file of more than `maximumBytes` bytes is an error as soon as that is known; see ``append(_:delay:)``.
    ///
    /// Each GIF frame has its own palette, and its pixels with less than half alpha are transparent; metadata is
    /// ignored for GIF. Throws `encodingFailed` for JPEG, for metadata that is too long for APNG or WebP, and for a
    /// size that the format cannot store: more than 65,535 pixels per side for GIF, or 16,383 for WebP.
    public init(
        options: EncodeOptions, size: PixelSize, repetitionCount: Int = 0, metadata: ImageMetadata = ImageMetadata(),
        maximumBytes: Int = AnimationEncoder.defaultMaximumBytes
    ) throws(CodecError) {
        format = options.format
        self.size = size
        self.maximumBytes = maximumBytes
        guard size.width > 0, size.height > 0 else { throw .encodingFailed(format, "it has no pixels") }
        writer = try options.encoder.animationWriter(
            size: size, repetitionCount: max(repetitionCount, 0), metadata: metadata)
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
    /// different size, the encoder rejects it, or the file exceeds its maximum size.
    public func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        guard frame.size == size else {
            throw .encodingFailed(format, "a frame of \(frame.size) in an animation of \(size)")
        }
        frameCount += 1
        try writer.append(frame.converted(to: .rgba8), delay: max(delay, .zero))
        try count(writer.byteCount)
    }

    /// Returns the encoded file.
    ///
    /// Call this method once, after the last frame. Throws `encodingFailed` if there are no frames, or the file exceeds
    /// its maximum size.
    public func finish() throws(CodecError) -> [UInt8] {
        guard frameCount > 0 else { throw .encodingFailed(format, "it has no frames") }
        let file = try writer.finish()
        try count(file.count)
        return file
    }

    /// Throws `encodingFailed` if the file, of which `bytes` bytes are known, exceeds its maximum size.
    private func count(_ bytes: Int) throws(CodecError) {
        byteCount = bytes
        guard bytes <= maximumBytes else {
            throw .encodingFailed(
                format,
                "its frames take more than the limit of \(maximumBytes) bytes; smaller frames, fewer frames, or lossy "
                    + "WebP take less")
        }
    }
}

@available(*, unavailable)
extension AnimationEncoder: Sendable {}
