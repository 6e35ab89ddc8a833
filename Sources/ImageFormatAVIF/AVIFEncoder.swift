#if AVIF
public import ImageCodecs
public import ImageEncoders

/// Encodes AVIF with libavif, with 8 bits per channel.
public struct AVIFEncoder: ImageEncoder {
    /// The format of the files.
    public let format = ImageFormat.avif
    /// The quality, from 1, the smallest file, to 100, the best; other values are clamped.
    public var quality: Int
    /// A Boolean value that indicates whether encoding is lossless.
    public var isLossless: Bool
    /// The speed, from 0, the smallest files, to 10, the fastest; other values are clamped.
    public var speed: Int

    /// The format and its options.
    public var identity: String { "avif \(quality) \(isLossless) \(speed)" }

    /// The maximum number of pixels along one side of an encoded image.
    private static let maximumSide = 65_536

    /// Creates an encoder; by default, lossy with quality 60, which corresponds to 85 in JPEG, and speed 6.
    public init(quality: Int = 60, isLossless: Bool = false, speed: Int = 6) {
        self.quality = quality
        self.isLossless = isLossless
        self.speed = speed
    }

    /// `true`: the format stores animations.
    public var storesAnimations: Bool { true }

    /// `false`: libavif tells the length of the file only at its end.
    public var limitsAnimations: Bool { false }

    /// The quality; `nil` if encoding is lossless.
    public var adjustableQuality: Int? { isLossless ? nil : min(max(quality, 1), 100) }

    /// Returns an encoder with another quality.
    public func with(quality: Int) -> AVIFEncoder {
        AVIFEncoder(quality: quality, isLossless: isLossless, speed: speed)
    }

    /// Returns the memory that libavif takes for an image that hardly compresses, in bytes.
    public func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        size.area * (hasAlpha ? 80 : 60) + (16 << 20)
    }

    /// Returns the memory for frames that libaom compares with one another, 20 of colors and 20 of alpha, in bytes.
    public func animationBytes(for size: PixelSize) -> Int {
        // Each with a border of 160 pixels.
        300 * (size.width + 320) * (size.height + 320) + (16 << 20)
    }

    /// Returns the encoded image with its metadata, of which the orientation is not applied.
    public func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        try check(pixels.size)
        let encoder = try AVIFEncoderHandle(self, isAnimated: false)
        try encoder.add(pixels, metadata, milliseconds: 1)
        return try encoder.finish()
    }

    /// Creates a writer of animations, which viewers repeat forever, and whose frames can all be transparent.
    ///
    /// Speeds above 6 count as 6: libaom 3.6 crashes when it encodes transparent animations faster.
    public func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        try check(size)
        return try AVIFAnimationWriter(self, metadata: metadata)
    }

    private func check(_ size: PixelSize) throws(CodecError) {
        guard max(size.width, size.height) <= Self.maximumSide else {
            throw .encodingFailed(format, "more than \(Self.maximumSide) pixels on one side")
        }
        // The most that libavif decodes.
        guard size.area <= 1 << 28 else { throw .encodingFailed(format, "more than \(1 << 28) pixels") }
    }
}

extension EncodeOptions {
    /// AVIF, still or animated.
    public static func avif(_ encoder: AVIFEncoder = AVIFEncoder()) -> EncodeOptions { EncodeOptions(encoder) }
}
#endif
