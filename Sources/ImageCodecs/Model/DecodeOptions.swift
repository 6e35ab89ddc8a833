/// Options for decoding a file: target size, resampling, color, and pixel format.
public struct DecodeOptions: Sendable, Hashable {
    /// The requested size.
    public var target: Target
    /// The resampling method used when the size changes.
    public var resampling: Resampling
    /// A Boolean value that indicates whether images smaller than the target are enlarged.
    ///
    /// Images without pixels of their own, such as SVG (``ImageHeader/proportions``), are rendered at the target anyway.
    /// The limits of ``DecodeLimits`` apply to the enlarged image as well.
    public var allowsUpscaling: Bool
    /// A Boolean value that indicates whether the image keeps its stored orientation instead of being turned upright.
    public var ignoresOrientation: Bool
    /// A Boolean value that indicates whether decoding ends as soon as all pixels are known, without reading the
    /// remainder of the file.
    ///
    /// This skips the data after the first frame, the rows below a cropped area, and the last scans of a progressive
    /// JPEG that is scaled to 1/12 or less, or 1/8 if it is large. A download that no other caller needs is stopped.
    /// Damage and metadata after the pixels go unnoticed, and frames are not counted.
    public var stopsWhenComplete: Bool
    /// A Boolean value that indicates whether the decodable part of a truncated or damaged image is returned instead of
    /// an error.
    ///
    /// ``DecodedImage/isPartial`` is then `true` for the result. If no row could be decoded, decoding fails regardless
    /// of this option. A progressive or interlaced image shows its latest scans. An animation consists of its complete
    /// frames or, if there are none, of the decodable part of the first one; a damaged frame shows its decodable part
    /// over the previous frame.
    public var allowsPartial: Bool
    /// A Boolean value that indicates whether pixels keep their color space, accompanied by their profile, instead of
    /// being converted to sRGB.
    ///
    /// The profile is then ``DecodedImage/iccProfile``. CMYK images are converted regardless.
    public var keepsProfile: Bool

    /// The format of the pixels, including previews and frames.
    public var pixelFormat: PixelFormat

    /// A target size of the upright image.
    ///
    /// Values below 1 count as 1. Smaller images of pixels are not enlarged, unless ``DecodeOptions/allowsUpscaling`` is
    /// set; ``fill(_:)`` still crops them, and ``maximumBytes(_:)`` never enlarges an image.
    public enum Target: Sendable, Hashable {
        /// The size stored in the file.
        case original
        /// A maximum length of the longer side, in pixels.
        case maximumSide(Int)
        /// A length of the shorter side, in pixels, preserving the aspect ratio.
        case shorterSide(Int)
        /// The largest size that fits into the given box, preserving the aspect ratio.
        case fit(PixelSize)
        /// The given box exactly; the image is cropped evenly on two sides.
        ///
        /// If the image is smaller than the box, the result is the largest part of it with the aspect ratio of the box.
        case fill(PixelSize)
        /// A maximum size of the pixels in bytes, preserving the aspect ratio; 60 MiB are nearly 16 megapixels of four
        /// bytes each.
        ///
        /// This target never enlarges an image.
        case maximumBytes(Int = 60 << 20)
    }

    /// Creates options.
    ///
    /// By default, the image has its original size, is turned upright and converted to sRGB, is decoded from the whole
    /// file, and consists of RGBA pixels with straight alpha.
    public init(
        target: Target = .original, resampling: Resampling = Resampling(), allowsUpscaling: Bool = false,
        ignoresOrientation: Bool = false, stopsWhenComplete: Bool = false, allowsPartial: Bool = false,
        keepsProfile: Bool = false, pixelFormat: PixelFormat = .rgba8
    ) {
        self.target = target
        self.resampling = resampling
        self.allowsUpscaling = allowsUpscaling
        self.ignoresOrientation = ignoresOrientation
        self.stopsWhenComplete = stopsWhenComplete
        self.allowsPartial = allowsPartial
        self.keepsProfile = keepsProfile
        self.pixelFormat = pixelFormat
    }
}

extension DecodeOptions {
    /// A text that is equal for equal options, in all processes, and different for all others.
    package var identity: String {
        let flags = [
            resampling.usesLinearLight, allowsUpscaling, ignoresOrientation, stopsWhenComplete, allowsPartial,
            keepsProfile,
        ]
        let bits = flags.map { $0 ? "1" : "0" }.joined()
        return "\(target.identity), \(resampling.filter.rawValue) \(bits) \(pixelFormat.rawValue)"
    }
}

extension DecodeOptions.Target {
    /// A text that is equal for equal targets, in all processes, and different for all others.
    package var identity: String {
        switch self {
        case .original: "original"
        case .maximumSide(let side): "maximumSide:\(side)"
        case .shorterSide(let side): "shorterSide:\(side)"
        case .fit(let box): "fit:\(box)"
        case .fill(let box): "fill:\(box)"
        case .maximumBytes(let bytes): "maximumBytes:\(bytes)"
        }
    }
}
