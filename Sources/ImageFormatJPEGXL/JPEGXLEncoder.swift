#if JPEGXL
import CJXL
public import ImageCodecs
public import ImageEncoders

/// Encodes JPEG XL with libjxl: still images with 8 or 16 bits per channel, and animations with 8.
public struct JPEGXLEncoder: ImageEncoder {
    /// The format of the files.
    public let format = ImageFormat.jpegXL
    /// The quality, from 1, the smallest file, to 100, the best, on the scale of JPEG; other values are clamped.
    public var quality: Int
    /// A Boolean value that indicates whether encoding is lossless.
    public var isLossless: Bool
    /// The effort, from 1, the fastest, to 9, the smallest files; other values are clamped.
    public var effort: Int

    /// The format and its options.
    public var identity: String { "jpegxl \(quality) \(isLossless) \(effort)" }

    /// `true`: images with 16 bits per channel are stored as they are.
    public var supports16Bit: Bool { true }

    /// `true`: the format stores animations.
    public var storesAnimations: Bool { true }

    /// The quality; `nil` if encoding is lossless.
    public var adjustableQuality: Int? { isLossless ? nil : min(max(quality, 1), 100) }

    /// The maximum number of pixels along one side of an encoded image.
    private static let maximumSide = 1 << 18

    /// Creates an encoder; by default, lossy with quality 85 and effort 5.
    public init(quality: Int = 85, isLossless: Bool = false, effort: Int = 5) {
        self.quality = quality
        self.isLossless = isLossless
        self.effort = effort
    }

    /// Returns an encoder with another quality.
    public func with(quality: Int) -> JPEGXLEncoder {
        JPEGXLEncoder(quality: quality, isLossless: isLossless, effort: effort)
    }

    /// Returns the memory that libjxl takes for an image that hardly compresses, in bytes.
    public func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        let perPixel = effort < 8 ? 90 : isLossless ? 160 : 290
        return size.area * (hasAlpha ? perPixel * 4 / 3 : perPixel) + (16 << 20)
    }

    /// Returns the memory for a transparent image, and for two frames, in bytes.
    public func animationBytes(for size: PixelSize) -> Int {
        workingBytes(for: size, hasAlpha: true) + 8 * size.area
    }

    /// Returns the encoded image with its metadata, of which the orientation is not applied.
    ///
    /// A color profile is stored in lossless files; the colors of lossy ones are converted by libjxl. Profiles of other
    /// colors than RGB, which do not fit the pixels, are ignored.
    public func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        let isOpaque = pixels.isOpaque
        var information = information(pixels.size, hasAlpha: !isOpaque)
        information.bits_per_sample = pixels.format == .rgba16 ? 16 : 8
        information.alpha_bits = isOpaque ? 0 : information.bits_per_sample
        let writer = try writer(information, metadata)
        try writer.addFrame(pixels, isOpaque: isOpaque)
        writer.close()
        var file: [UInt8] = []
        try writer.takeOutput(to: &file)
        return file
    }

    /// Creates a writer of animations, whose frames can all be transparent, and of which it holds two.
    ///
    /// A frame without a delay is shown for a millisecond.
    public func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        var information = information(size, hasAlpha: true)
        information.have_animation = 1
        information.animation.tps_numerator = 1_000
        information.animation.tps_denominator = 1
        information.animation.num_loops = UInt32(clamping: repetitionCount)
        return JPEGXLAnimationWriter(try writer(information, metadata))
    }

    /// Returns the properties of an image with 8 bits per channel.
    private func information(_ size: PixelSize, hasAlpha: Bool) -> JxlBasicInfo {
        var information = JxlBasicInfo()
        unsafe JxlEncoderInitBasicInfo(&information)
        information.xsize = UInt32(clamping: size.width)
        information.ysize = UInt32(clamping: size.height)
        information.alpha_bits = hasAlpha ? 8 : 0
        information.num_extra_channels = hasAlpha ? 1 : 0
        information.uses_original_profile = isLossless ? 1 : 0
        return information
    }

    /// Creates a writer for a file with these properties.
    private func writer(_ information: JxlBasicInfo, _ metadata: ImageMetadata) throws(CodecError) -> JPEGXLWriter {
        guard max(information.xsize, information.ysize) <= Self.maximumSide else {
            throw .encodingFailed(format, "more than \(Self.maximumSide) pixels on one side")
        }
        let writer = try JPEGXLWriter()
        try writer.setInformation(information, colorProfile: metadata.colorProfile)
        try writer.setOptions(
            distance: isLossless ? nil : Self.distance(quality), effort: min(max(effort, 1), 9))
        if let exif = metadata.exif { try writer.addExif(exif) }
        return writer
    }

    /// Returns the distance that `cjxl` uses for a quality.
    private static func distance(_ quality: Int) -> Float {
        let quality = Float(min(max(quality, 1), 100))
        // Lower ones would grow faster.
        return quality >= 30 ? 0.1 + (100 - quality) * 0.09 : 6.4 + (30 - quality) * 0.29
    }
}

extension EncodeOptions {
    /// JPEG XL, still or animated.
    public static func jpegXL(_ encoder: JPEGXLEncoder = JPEGXLEncoder()) -> EncodeOptions { EncodeOptions(encoder) }
}
#endif
