import ImageCodecs

/// How images and animations of one format are written: an entry of the table ``EncodingOptions/encoder``.
protocol FormatEncoder: Sendable {
    /// A Boolean value that indicates whether images of 16 bits a channel are written with as many; others get 8.
    var keepsDeepPixels: Bool { get }

    /// Writes an image, which has pixels, as a file.
    ///
    /// It is stored as ``PixelFormat/rgba8``, or as ``PixelFormat/rgba16`` if these are kept. Throws `encodingFailed`.
    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8]

    /// Creates a writer of animations of a size that is not empty, shown `loopCount` times, 0 being without end.
    ///
    /// Throws `encodingFailed`.
    func animationWriter(
        size: PixelSize, loopCount: UInt16, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter
}

extension FormatEncoder {
    var keepsDeepPixels: Bool { false }
}

/// Writes one animation: frames in, a file out.
protocol AnimationWriter: AnyObject {
    /// Takes the next frame, of the animation's size.
    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError)
    /// The file, after at least one frame.
    func finish() throws(CodecError) -> [UInt8]
}
