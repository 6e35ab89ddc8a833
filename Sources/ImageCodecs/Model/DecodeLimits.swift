/// Limits on the resources that decoding a file may use.
///
/// The limits are checked when the header is known, before pixels are allocated, and while bytes arrive.
///
/// One limit is fixed because it is part of the memory estimate (``DecodePlan/estimatedBytes``): the tables of a
/// lossless WebP image, or of lossless alpha, may take 2 MiB plus 64 bytes per compressed byte, and at most 48 MiB. For
/// an animation, the compressed bytes are those of the whole file or, in an ``AnimationDecoder``, those of each frame.
/// Images that need more fail with `overLimit(.memory)`; encoders do not produce them.
public struct DecodeLimits: Sendable, Hashable {
    /// The maximum number of pixels (width times height) of the stored image or of an animation's canvas.
    public var maximumPixels: Int
    /// The maximum number of pixels along one side of the stored image.
    public var maximumSide: Int
    /// The maximum size of the compressed file, in bytes.
    public var maximumBytes: Int
    /// The maximum number of scans of a progressive or multi-scan JPEG.
    public var maximumScans: Int
    /// The maximum number of frames of an animation.
    public var maximumFrames: Int
    /// The maximum work on one file, as the number of pixels of all scans of a JPEG, or twice that of all frames of an
    /// animation, each counted as the whole canvas.
    ///
    /// This limits the time that a file takes, because a few bytes are sufficient for a scan or a frame. The pixels of
    /// frames count twice, because they are also combined with those of earlier frames. Scans that are not decoded,
    /// because the image is reduced to 1/8 of its size or less, do not count.
    public var maximumWork: Int
    /// The maximum number of bytes before the header is complete (Exif, ICC, and other metadata).
    public var maximumHeaderBytes: Int

    /// Creates limits.
    ///
    /// The defaults are 0x3FFF × 0x3FFF pixels (268 million), 65,535 pixels per side, 512 MiB, 100 scans, 10,000
    /// frames, work on 2^31 pixels (10 scans of 214 megapixels, or 517 frames of 1920 × 1080), and a header of 16 MiB.
    public init(
        maximumPixels: Int = 0x3FFF * 0x3FFF,
        maximumSide: Int = 65_535,
        maximumBytes: Int = 512 << 20,
        maximumScans: Int = 100,
        maximumFrames: Int = 10_000,
        maximumWork: Int = 1 << 31,
        maximumHeaderBytes: Int = 16 << 20
    ) {
        self.maximumPixels = maximumPixels
        self.maximumSide = maximumSide
        self.maximumBytes = maximumBytes
        self.maximumScans = maximumScans
        self.maximumFrames = maximumFrames
        self.maximumWork = maximumWork
        self.maximumHeaderBytes = maximumHeaderBytes
    }

    /// Throws an error if an image of `size` has no pixels or too many.
    func check(_ size: PixelSize, _ format: ImageFormat) throws(CodecError) {
        guard size.width > 0, size.height > 0 else { throw .zeroPixels(format, size) }
        let side = max(size.width, size.height)
        guard side <= maximumSide else { throw .overLimit(.side, value: side, limit: maximumSide) }
        guard size.area <= maximumPixels else { throw .overLimit(.pixels, value: size.area, limit: maximumPixels) }
        guard size.area <= maximumWork else { throw .overLimit(.work, value: size.area, limit: maximumWork) }
    }

    /// Throws an error if all frames of an animation have too many pixels, of which there are `count`.
    package func checkWork(onFramePixels count: Int) throws(CodecError) {
        let (work, overflow) = count.multipliedReportingOverflow(by: 2)
        guard !overflow, work <= maximumWork else {
            throw .overLimit(.work, value: overflow ? .max : work, limit: maximumWork)
        }
    }
}
