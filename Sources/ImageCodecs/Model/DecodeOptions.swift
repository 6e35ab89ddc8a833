/// What a decode shall make of a file.
public struct DecodeOptions: Sendable, Hashable {
    /// The size wanted.
    public var target: Target
    /// How pixels are weighted where the size changes.
    public var resampling: Resampling
    /// A Boolean value that indicates whether images smaller than the target are made larger.
    ///
    /// The result is held to the limits of ``DecodeLimits`` like the original.
    public var allowsEnlarging: Bool
    /// Leave the rows as stored instead of turning them upright.
    public var ignoresOrientation: Bool
    /// A Boolean value that indicates whether the decode ends as soon as all its pixels are known, without a look at
    /// the rest of the file.
    ///
    /// That saves what follows the first frame, the rows below what a fill shows, and most of a progressive JPEG that
    /// is made 1/8 of its size or smaller; a download that nobody else wants is stopped. Damage and metadata behind the
    /// pixels go unnoticed, and frames are not counted.
    public var stopsWhenComplete: Bool
    /// A Boolean value that indicates whether an image that ends too early or is damaged is given as far as it goes,
    /// marked ``DecodedImage/isPartial``.
    ///
    /// Otherwise it is an error. Where no row could be decoded it is one in any case. Of a progressive or interlaced image
    /// the latest scans are shown. Of an animation there are the frames that are complete, or, without any, what there is of
    /// the first; a damaged frame shows what could be decoded over the frame before it.
    public var allowsPartial: Bool
    /// A Boolean value that indicates whether pixels stay as stored, instead of being converted to sRGB, and come
    /// with their profile.
    ///
    /// The profile is then ``DecodedImage/iccProfile``. Images of four inks are converted all the same.
    public var keepsProfile: Bool

    /// How the pixels are stored, previews and frames included.
    public var pixelFormat: PixelFormat

    /// The size wanted, in pixels of the upright image.
    ///
    /// Numbers below 1 count as 1. Smaller images stay as they are, unless ``DecodeOptions/allowsEnlarging`` is set.
    public enum Target: Sendable, Hashable {
        /// As large as the file has it.
        case original
        /// The longer side is no longer than this.
        case maximumSide(Int)
        /// As large as fits into the given box, keeping the shape.
        case fit(PixelSize)
        /// The given box exactly; what overlaps on two sides is cut off.
        ///
        /// Of an image too small for it, the largest part that has the box's shape.
        case fill(PixelSize)
        /// No more bytes of pixels than this, keeping the shape; 60 MiB are nearly 16 megapixels of four bytes.
        ///
        /// Never enlarges.
        case maximumBytes(Int = 60 << 20)
    }

    /// The original size, upright and in sRGB, from the whole file, as straight RGBA, by default.
    public init(
        target: Target = .original, resampling: Resampling = Resampling(), allowsEnlarging: Bool = false,
        ignoresOrientation: Bool = false, stopsWhenComplete: Bool = false, allowsPartial: Bool = false,
        keepsProfile: Bool = false, pixelFormat: PixelFormat = .rgba8
    ) {
        self.target = target
        self.resampling = resampling
        self.allowsEnlarging = allowsEnlarging
        self.ignoresOrientation = ignoresOrientation
        self.stopsWhenComplete = stopsWhenComplete
        self.allowsPartial = allowsPartial
        self.keepsProfile = keepsProfile
        self.pixelFormat = pixelFormat
    }
}
