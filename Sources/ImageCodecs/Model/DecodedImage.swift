/// A decoded image, and what the file said of it.
public struct DecodedImage: Sendable, Hashable {
    /// The pixels, upright unless ``DecodeOptions/ignoresOrientation`` was set, at the size asked for.
    public var pixels: PixelBuffer
    /// The header, its frame count now known.
    public var header: ImageHeader
    /// The size the image would have had unscaled, turned as `pixels` are.
    public var originalSize: PixelSize
    /// How much of the original is shown, in its pixels, rounded up: all of it, unless a fill cut off edges.
    public var shownSize: PixelSize
    /// A Boolean value that indicates whether something is missing: the file ended too early or was damaged, and
    /// ``DecodeOptions/allowsPartial`` was set, or this comes with an error.
    public var isPartial: Bool
    /// How many rows of the image as stored, scaled like `pixels`, are there: all of them, unless ``isPartial``.
    ///
    /// What is missing below is transparent. Of a progressive or interlaced image all rows may be there, but coarser than
    /// they would be; behind damage a JPEG has whatever pixels its decoder makes of it.
    public var completeRows: Int
    /// The ICC profile of `pixels`, as the file has it; nil if they are sRGB.
    ///
    /// Only where ``DecodeOptions/keepsProfile`` was set. Where the file describes its colors by other means, a profile made
    /// of those.
    public var iccProfile: [UInt8]?
    /// A Boolean value that indicates whether `pixels` is smaller, or larger, than what it shows was in the original.
    public var wasScaled: Bool { pixels.size != shownSize }
    /// A Boolean value that indicates whether edges of the original were cut off.
    public var wasCropped: Bool { shownSize != originalSize }

    /// An image as the decoder makes it; all of the original is shown unless `shownSize` says otherwise.
    ///
    /// All of its rows are there unless `completeRows` says otherwise.
    public init(
        pixels: PixelBuffer, header: ImageHeader, originalSize: PixelSize, shownSize: PixelSize? = nil,
        isPartial: Bool = false, completeRows: Int? = nil, iccProfile: [UInt8]? = nil
    ) {
        self.pixels = pixels
        self.header = header
        self.originalSize = originalSize
        self.shownSize = shownSize ?? originalSize
        self.isPartial = isPartial
        self.completeRows = completeRows ?? (originalSize == header.size ? pixels.height : pixels.width)
        self.iccProfile = iccProfile
    }
}

/// What can be shown of an image that is still arriving.
public struct ImagePreview: Sendable, Hashable {
    /// The whole frame, turned and scaled like the final image, or smaller; pixels that have not come yet are transparent
    /// black.
    public var pixels: PixelBuffer
    /// How many rows of the image as stored, scaled to the preview, have come, of the current pass.
    public var completeRows: Int
    /// Which scan or pass of a progressive image this is, from 1; nil where rows come once only.
    public var scan: Int?

    /// A preview as the decoder makes it.
    public init(pixels: PixelBuffer, completeRows: Int, scan: Int?) {
        self.pixels = pixels
        self.completeRows = completeRows
        self.scan = scan
    }
}
