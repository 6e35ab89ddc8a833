/// A decoded image and the header of its file.
public struct DecodedImage: Sendable, Hashable {
    /// The pixels at the requested size, upright unless ``DecodeOptions/ignoresOrientation`` was set.
    public var pixels: PixelBuffer
    /// The header, with the warnings about the file, and the frame count if decoding has determined it; otherwise, the
    /// count can still be `nil`.
    public var header: ImageHeader
    /// The size the image would have had without scaling, in pixels, oriented like `pixels`.
    public var originalSize: PixelSize
    /// The size of the visible part of the original, in pixels of the original, rounded up.
    ///
    /// It is the same as ``originalSize``, unless the target cropped edges (``DecodeOptions/Target/fill(_:)``).
    public var visibleSize: PixelSize
    /// A Boolean value that indicates whether part of the image is missing because the file ended early or was damaged.
    ///
    /// This occurs only with ``DecodeOptions/allowsPartial``, or if the image accompanies an error.
    public var isPartial: Bool
    /// The number of available rows of the stored image, scaled like `pixels`: all of them, unless ``isPartial``.
    ///
    /// If the image was turned by 90 degrees according to its orientation, they are columns of `pixels`. Missing rows
    /// are transparent, or white in ``PixelFormat/gray8``. A progressive or interlaced image can have all rows at
    /// reduced quality. Pixels of a JPEG that come from data after the damage are undefined.
    public var completeRows: Int
    /// The ICC profile of `pixels`, as stored in the file; `nil` if they are sRGB.
    ///
    /// Present only if ``DecodeOptions/keepsProfile`` was set. If the file declares its colors in another way, a
    /// profile is generated from the declaration.
    public var iccProfile: [UInt8]?
    /// A Boolean value that indicates whether `pixels` differs in size from the visible part of the original.
    public var wasScaled: Bool { pixels.size != visibleSize }
    /// A Boolean value that indicates whether edges of the original were cropped.
    public var wasCropped: Bool { visibleSize != originalSize }

    /// Creates a decoded image.
    ///
    /// All of the original is visible unless `visibleSize` is given. All of its rows are available unless
    /// `completeRows` is given.
    public init(
        pixels: PixelBuffer, header: ImageHeader, originalSize: PixelSize, visibleSize: PixelSize? = nil,
        isPartial: Bool = false, completeRows: Int? = nil, iccProfile: [UInt8]? = nil
    ) {
        self.pixels = pixels
        self.header = header
        self.originalSize = originalSize
        self.visibleSize = visibleSize ?? originalSize
        self.isPartial = isPartial
        self.completeRows = completeRows ?? (originalSize == header.size ? pixels.height : pixels.width)
        self.iccProfile = iccProfile
    }
}

/// The available part of an image that is still arriving.
public struct PreviewPixels: Sendable, Hashable {
    /// The whole image, oriented and scaled like the final one, or smaller; pixels not yet received are transparent
    /// black, or white in ``PixelFormat/gray8``.
    public var pixels: PixelBuffer
    /// The number of rows of the stored image that were received in the current pass, scaled to the preview.
    public var completeRows: Int
    /// The scan or pass of a progressive image, counted from 1; `nil` if rows arrive only once.
    public var scan: Int?

    /// Creates a preview.
    public init(pixels: PixelBuffer, completeRows: Int, scan: Int?) {
        self.pixels = pixels
        self.completeRows = completeRows
        self.scan = scan
    }
}
