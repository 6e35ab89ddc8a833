#if JPEGXL
public import ImageCodecs

/// Animated JPEG XL, decoded by libjxl from the whole file: to be placed in front of ``JPEGXLFormat``.
///
/// libjxl combines frames with earlier ones, so that the frames of a file cannot be decoded separately.
public struct JPEGXLAnimationFormat: WholeFileFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat.jpegXL

    /// The number of leading bytes in which the declaration of an animation is looked for.
    ///
    /// It can follow later in files that begin with metadata, of which the first frame is then shown.
    public let signatureLength = 128

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether the file declares an animation.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        JPEGXLFormat().recognizes(beginning) && JPEGXLHead.isAnimated(beginning) == true
    }

    /// Returns the header of a complete file, whose number of frames is not known yet.
    public func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        guard var header = try JPEGXLHead(file)?.header else { throw .truncated(.jpegXL) }
        header.frameCount = nil
        return header
    }

    /// Returns the profile of the decoded rows, as ``JPEGXLFormat/colorProfile(of:)`` does.
    public func colorProfile(of file: Span<UInt8>) -> [UInt8]? { JPEGXLFormat().colorProfile(of: file) }

    /// Returns the Exif data, and the color profile of the decoded rows.
    public func metadata(of file: Span<UInt8>) -> ImageMetadata { JPEGXLFormat().metadata(of: file) }

    /// Returns the memory for a frame, and for those that it is combined with, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // Up to four frames, of floating-point numbers.
        let (frames, overflow) = header.size.area.multipliedReportingOverflow(by: 64)
        let (bytes, isTooLarge) = header.memoryUsage.addingReportingOverflow(frames)
        return overflow || isTooLarge ? .max : bytes
    }

    /// Decodes the first frame.
    public func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError) {
        let decoder = try JPEGXLRowDecoder(header)
        try decoder.append(file, to: &rows)
        try decoder.finish(to: &rows)
    }

    /// Creates a decoder of the frames.
    public func animation(of file: [UInt8], header: ImageHeader) throws(CodecError) -> (any WholeFileAnimation)? {
        try JPEGXLAnimation(file.span, header: header, memory: workingBytes(of: header, rowSize: header.size))
    }
}
#endif
