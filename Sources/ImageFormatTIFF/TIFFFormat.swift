#if TIFF
public import ImageCodecs

extension ImageFormat {
    /// TIFF.
    public static let tiff = ImageFormat(name: "TIFF", mediaType: "image/tiff", fileExtension: "tif")
}

/// TIFF, decoded by libtiff: an element of `ImageDecoder.Configuration.customFormats`.
///
/// Reads the first page of TIFF and BigTIFF files, and counts the others. Samples have 1 to 16 bits, or are
/// floating-point numbers of 16, 32, or 64 bits, which are clamped to the range from 0 to 1, rounded to 16 bits, and linear
/// light without a profile. They are gray, of a palette, RGB, CMYK, YCbCr, or CIE L*a*b*, together or in planes, with
/// alpha. Compressions are those of libtiff that are in use: CCITT, LZW, Deflate, PackBits, JPEG, LZMA, Zstandard, and
/// WebP. Rows and tiles are decoded one after another on the thread of the caller; the file is read once it is complete.
/// Colors of ink are converted without their profile.
public struct TIFFFormat: WholeFileFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat.tiff

    /// The number of leading bytes that decide whether a file is a TIFF: 4.
    public let signatureLength = 4

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether the file begins with the byte order and version of TIFF or BigTIFF.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        beginning.has("II*\0", at: 0) || beginning.has("MM\0*", at: 0) || beginning.has("II+\0", at: 0)
            || beginning.has("MM\0+", at: 0)
    }

    /// Returns the header of the first page of a complete file.
    public func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        let pageCount = try TIFFPages.count(in: file)
        var header = try TIFFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in decoder.header }
        header.pageCount = pageCount
        return header
    }

    /// Returns the embedded profile, or that of floating-point numbers; `nil` for sRGB, and an empty one for CMYK, whose
    /// profile is not applied.
    public func colorProfile(of file: Span<UInt8>) -> [UInt8]? {
        try? TIFFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in decoder.colorProfile }
    }

    /// Returns the color profile, and the Exif data: the fields of a TIFF that describe the image, the camera, and the
    /// location, without notes of the maker.
    public func metadata(of file: Span<UInt8>) -> ImageMetadata {
        let profile = colorProfile(of: file)
        return ImageMetadata(colorProfile: profile?.isEmpty == true ? nil : profile, exif: TIFFExif.read(file))
    }

    /// Returns the memory for a row of strips or tiles, and for the copies of tags, the tables of places, and the
    /// decoders of the compression, of which planes in strips have one each, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { header.memoryUsage }

    /// Decodes the first page.
    public func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError) {
        try TIFFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in
            try decoder.checkLayout()
            try decoder.another().passRows(to: &rows)
        }
    }
}
#endif
