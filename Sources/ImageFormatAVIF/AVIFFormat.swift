#if AVIF
public import ImageCodecs

extension ImageFormat {
    /// AVIF, still or animated.
    public static let avif = ImageFormat(name: "AVIF", mediaType: "image/avif", fileExtension: "avif")
}

/// AVIF, decoded by libavif: an element of `ImageDecoder.Configuration.customFormats`.
///
/// Reads images of 8, 10, and 12 bits per channel, grids, alpha, crops (`clap`), rotations and reflections (`irot`,
/// `imir`), ICC profiles and code points of colors, and sequences. High dynamic range (PQ, HLG) is brought into the
/// range of sRGB; gain maps are reported, but not applied. The file is read once it is complete, on the thread of the
/// caller alone.
public struct AVIFFormat: WholeFileFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat.avif

    /// The number of leading bytes in which the brand is looked for.
    public let signatureLength = 64

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether the file begins with a `ftyp` box that names `avif` or `avis`.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        beginning.hasBrand(["avif", "avis"])
    }

    /// Returns the header of a complete file.
    public func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        var header = try AVIFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in decoder.header }
        // libavif before 1.1 does not know gain maps.
        header.hasGainMap = ItemBoxes.announceGainMap(in: file)
        return header
    }

    /// Returns the embedded profile, or one that the code points of the file describe; `nil` for sRGB.
    public func colorProfile(of file: Span<UInt8>) -> [UInt8]? {
        try? AVIFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in decoder.colorProfile }
    }

    /// Returns the Exif data, and the color profile.
    public func metadata(of file: Span<UInt8>) -> ImageMetadata {
        let metadata = try? AVIFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in
            ImageMetadata(colorProfile: decoder.colorProfile, exif: decoder.exif)
        }
        return metadata ?? ImageMetadata()
    }

    /// Returns the memory for the planes of frames, and a few rows, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        header.memoryUsage + header.size.width * 8 * AVIFRows.stripHeight + (4 << 20)
    }

    /// Decodes the image, or the first frame.
    public func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError) {
        try AVIFDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in
            try decoder.decodeFrame(at: 0)
            try decoder.passRows(header.size, to: &rows)
        }
    }

    /// Creates a decoder of the frames of a sequence.
    public func animation(of file: [UInt8], header: ImageHeader) throws(CodecError) -> (any WholeFileAnimation)? {
        try AVIFAnimation(file, size: header.size)
    }
}
#endif
