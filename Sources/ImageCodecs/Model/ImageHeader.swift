/// The properties of an image, known before any pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The format, determined from the signature of the file.
    public var format: ImageFormat
    /// The stored size in pixels, before orientation is applied.
    public var size: PixelSize
    /// The proportions of an image that is made of shapes instead of pixels, such as SVG, as a size of any scale; `nil` for
    /// images of pixels.
    ///
    /// ``size`` is then only the declared size, at which the image is rendered without a target; with one
    /// (``DecodeOptions/target``), it is rendered at that size, also if it is larger.
    public var proportions: PixelSize?
    /// The orientation declared by the file; `.up` if missing or invalid.
    ///
    /// An orientation stored after the pixels of a PNG is known and applied once the image has been decoded. It can
    /// exchange width and height. It is ignored for animations.
    public var orientation: ImageOrientation
    /// The number of frames, or `nil` if it is not known before the whole file has been read (GIF, animated WebP).
    public var frameCount: Int?
    /// The number of pages of a document, such as a TIFF, of which the first is the image; 1 for other files.
    public var pageCount = 1
    /// A Boolean value that indicates whether pixels can be transparent.
    public var hasAlpha: Bool
    /// A Boolean value that indicates whether the image arrives in several passes of increasing quality: progressive
    /// JPEG, interlaced PNG and GIF.
    public var isProgressive: Bool
    /// The number of stored bits per channel.
    public var bitsPerChannel: Int
    /// The number of stored color channels, without alpha: 1 for grayscale or indexed, 3 for color, 4 for CMYK.
    public var colorChannels: Int
    /// The description in the embedded ICC profile or, for PNG, the name stored before the profile; `nil` if there is
    /// no profile.
    ///
    /// "unnamed" if the profile has no readable name.
    public var colorProfile: String?
    /// The conversion needed to make the colors sRGB.
    public var colorConversion: ColorConversion
    /// A Boolean value that indicates whether the header of a WebP announces an `EXIF` chunk, which follows the pixels
    /// and can still change `orientation`.
    ///
    /// It is `false` for other formats, although metadata after the pixels of a PNG can also change `orientation`.
    public var hasTrailingOrientation: Bool

    /// A Boolean value that indicates whether a JPEG, AVIF, or HEIC announces a gain map (ISO 21496-1, Ultra HDR, Apple's
    /// photos), with which displays of high dynamic range make parts of the image brighter.
    ///
    /// It is not decoded.
    public var hasGainMap = false

    /// A Boolean value that indicates whether the animation chunks of a PNG violate the specification, so that only
    /// its default image is shown.
    ///
    /// This property is set once the file has been read as an animation.
    public var hasInvalidAnimation = false

    /// The deviations of the file from its format that leave no pixel missing or doubtful.
    ///
    /// They are known once the file has been decoded or verified, as far as that has read it: a decode reads less than
    /// ``ImageVerifier``. At most one of each kind.
    public var warnings: Set<ImageWarning> = []

    /// A Boolean value that indicates whether all colors are gray, so that a grayscale profile is valid.
    package var isGray = false
    /// A Boolean value that indicates whether the channels of a sequential JPEG are in separate scans, so that all
    /// must be kept.
    var hasSeparateScans = false
    /// The sampling factors of each channel of a JPEG; empty for other formats.
    var sampling: [SamplingFactors] = []
    /// The maximum size in bytes of tables for the lossless images and lossless alpha of a WebP; 0 if it is lossy and
    /// opaque.
    var tableBytes = 0
    /// A Boolean value that indicates whether the first row of the file is the bottom one, as in most BMPs.
    var isBottomUp = false
    /// The sizes of the smaller images in the file that show the same, as in ICO and HEIC.
    package var smallerSizes: [PixelSize] = []
    /// The number of compressed bytes that must be held together before the image is complete, as far as the file
    /// declares it.
    ///
    /// For a WebP, those of its first image; for a JPEG with arithmetic coding, the maximum allowed; 0 if they are
    /// decoded as they arrive. For a TIFF, the memory of its strips or tiles; for a JPEG XL, all that a decode takes.
    package var memoryUsage = 0

    /// Returns the size of the smallest image in the file that is no smaller than `target`.
    package func sufficientSize(for target: PixelSize) -> PixelSize {
        let suitable = smallerSizes.filter { $0.width >= target.width && $0.height >= target.height }
        return suitable.min { $0.area < $1.area } ?? size
    }

    /// A Boolean value that indicates whether the file has more than one frame, or their number is not known yet.
    public var mayBeAnimated: Bool { frameCount != 1 }

    /// The size in pixels after the orientation has been applied.
    public var uprightSize: PixelSize { size.upright(orientation) }

    /// Creates a header of a still, opaque 8-bit color image of `size`; change the properties that differ.
    public init(format: ImageFormat, size: PixelSize) {
        self.format = format
        self.size = size
        orientation = .up
        frameCount = 1
        hasAlpha = false
        isProgressive = false
        bitsPerChannel = 8
        colorChannels = 3
        colorProfile = nil
        colorConversion = .unneeded
        hasTrailingOrientation = false
    }
}
