/// What a file says of its image before any pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The format, found by signature.
    public var format: ImageFormat
    /// Size as stored, before orientation is applied.
    public var size: PixelSize
    /// The orientation the file asks for; `.up` if it says nothing or nonsense.
    ///
    /// What a PNG says behind its pixels is known once it has been decoded, and turns them then; it makes nothing larger than
    /// ``DecodePlan/outputSize``, and does not count in an animation.
    public var orientation: ImageOrientation
    /// Number of frames, or nil where it is not known before the whole file has been read (GIF, animated WebP).
    public var frameCount: Int?
    /// A Boolean value that indicates whether pixels may be transparent.
    public var hasAlpha: Bool
    /// A Boolean value that indicates whether the image comes in several passes of growing quality: progressive JPEG,
    /// interlaced PNG and GIF.
    public var isProgressive: Bool
    /// Bits a channel as stored.
    public var bitsPerChannel: Int
    /// Color channels as stored: 1 gray or indexed, 3 color, 4 CMYK; alpha not counted.
    public var colorChannels: Int
    /// The embedded ICC profile's description, or nil without a profile.
    ///
    /// "unnamed" if the profile has no readable name.
    public var colorProfile: String?
    /// What a decode does to make the colors sRGB.
    public var colorConversion: ColorConversion
    /// A Boolean value that indicates whether the file has metadata behind its pixels that can still change
    /// `orientation` (WebP's `EXIF` chunk).
    public var orientationFollowsPixels: Bool

    /// A Boolean value that indicates whether the chunks that make a PNG an animation contradict each other or the
    /// specification, so that its default image alone is shown; known once the file has been read as an animation.
    public var hasInvalidAnimation = false

    /// A Boolean value that indicates whether all its colors are gray, so that a profile may speak of gray alone.
    var isGrey = false
    /// A Boolean value that indicates whether the channels of a sequential JPEG come one scan after the other, so
    /// that they must all be kept.
    var hasSeparateScans = false
    /// Of each channel of a JPEG; empty for other formats.
    var sampling: [SamplingFactors] = []
    /// The maximum number of bytes of tables for the lossless images and lossless alpha of a WebP; 0 if it is lossy and
    /// opaque.
    var tableBytes = 0
    /// Bytes of compressed data that have to be held together before the image is complete, as far as the file says.
    ///
    /// Of a WebP those of its first image; of a JPEG with arithmetic coding as many as it may have; 0 where they are read as
    /// they come.
    var heldBytes = 0

    /// A Boolean value that indicates whether the file has more than one frame, or it is not known yet how many.
    public var mayBeAnimated: Bool { frameCount != 1 }

    /// Size once the orientation has been applied.
    public var uprightSize: PixelSize { size.upright(orientation) }

    /// A still, opaque 8-bit color image of `size`; change what differs.
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
        orientationFollowsPixels = false
    }
}
