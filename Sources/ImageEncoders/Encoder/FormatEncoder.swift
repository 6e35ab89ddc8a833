import ImageCodecs

/// An encoder of images and animations of one format; see ``EncodeOptions/encoder``.
protocol FormatEncoder: Sendable {
    /// A Boolean value that indicates whether 16-bit images are written with 16 bits per channel; otherwise with 8.
    var supports16Bit: Bool { get }

    /// Encodes a nonempty image.
    ///
    /// Its format is ``PixelFormat/rgba8``, or ``PixelFormat/rgba16`` if the encoder supports it. Throws
    /// `encodingFailed`.
    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8]

    /// Creates a writer of animations of a nonempty size, played `repetitionCount` times; 0 means forever.
    ///
    /// Throws `encodingFailed`.
    func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter
}

extension FormatEncoder {
    var supports16Bit: Bool { false }
}

/// A writer of one animation: frames in, a file out.
protocol AnimationWriter: AnyObject {
    /// The number of bytes that the file has so far, all of which are in memory.
    var byteCount: Int { get }
    /// Adds the next frame, of the animation's size.
    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError)
    /// Returns the file, after at least one frame.
    func finish() throws(CodecError) -> [UInt8]
}
