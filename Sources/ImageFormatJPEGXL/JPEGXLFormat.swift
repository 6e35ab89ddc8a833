#if JPEGXL
public import ImageCodecs

extension ImageFormat {
    /// JPEG XL, still or animated.
    public static let jpegXL = ImageFormat(name: "JPEG XL", mediaType: "image/jxl", fileExtension: "jxl")
}

/// JPEG XL, decoded by libjxl while it arrives: an element of `ImageDecoder.Configuration.customFormats`.
///
/// Reads images of up to 16 bits per channel with alpha, in any orientation and with any profile, and the first frames
/// of animations, unless ``JPEGXLAnimationFormat`` precedes this format. Previews show the passes that have arrived.
/// High dynamic range (PQ, HLG) is brought into the range of sRGB, and CMYK is not supported. A file is decoded on the
/// thread of the caller alone.
public struct JPEGXLFormat: CustomFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat.jpegXL

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether the file begins with the signature of a codestream or of a container.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        (beginning.byte(at: 0) == 0xFF && beginning.byte(at: 1) == 0x0A)
            || (beginning.has("\0\0\0\u{c}JXL \r\n", at: 0) && beginning.byte(at: 10) == 0x87)
    }

    /// Returns the header once the colors are known, which precede the pixels.
    public func header(of beginning: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        try JPEGXLHead(beginning)?.header
    }

    /// Returns the profile of the decoded rows: `nil` for sRGB, which lossy images are decoded to, and an empty one for
    /// those that are not supported.
    public func colorProfile(of beginning: Span<UInt8>) -> [UInt8]? {
        (try? JPEGXLHead(beginning))?.colorProfile
    }

    /// Returns the Exif data, and the color profile of the decoded rows.
    public func metadata(of file: Span<UInt8>) -> ImageMetadata {
        let profile = colorProfile(of: file)
        return ImageMetadata(
            colorProfile: profile?.isEmpty == true ? nil : profile, exif: (try? JPEGXLExif.read(file)) ?? nil)
    }

    /// Returns the memory for the pixels and the most that libjxl takes to decode them, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { header.memoryUsage }

    /// Creates a decoder, which passes the rows once the image is complete.
    public func decoder(for header: ImageHeader, rowSize: PixelSize) throws(CodecError) -> any CustomRowDecoder {
        try JPEGXLRowDecoder(header)
    }
}
#endif
