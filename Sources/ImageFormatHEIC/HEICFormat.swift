#if HEIC
public import ImageCodecs

extension ImageFormat {
    /// HEIC, the photos of many phones.
    public static let heic = ImageFormat(name: "HEIC", mediaType: "image/heic", fileExtension: "heic")
}

/// HEIC, decoded by libheif: an element of `ImageDecoder.Configuration.customFormats`.
///
/// Reads the primary image, of 8, 10, and 12 bits per channel: grids, alpha, crops, rotations and reflections, ICC
/// profiles and code points of colors. If a smaller image suffices, an embedded thumbnail with the same aspect ratio is
/// decoded. High dynamic range (PQ, HLG) is brought into the range of sRGB; gain maps are reported, but not applied; other
/// images in the file, such as sequences and depth maps, are ignored. The file is read once it is complete, on the thread
/// of the caller and one of libde265.
public struct HEICFormat: WholeFileFormat {
    /// The name, media type, and file extension of the format.
    public let format = ImageFormat.heic

    /// The number of leading bytes in which the brands are looked for.
    public let signatureLength = 64

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether the file begins with a `ftyp` box that names a brand of HEVC, or `mif1` without `avif`.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool {
        // A later brand can be that of AVIF.
        guard let length = beginning.bigEndian32(at: 0), beginning.count >= min(length, signatureLength) else {
            return false
        }
        if beginning.hasBrand(["avif", "avis"]) { return false }
        return beginning.hasBrand(["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1"])
    }

    /// Returns the header of a complete file; the size is that of the image as it is shown.
    public func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        var header = try HEICDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in try decoder.header }
        header.hasGainMap = ItemBoxes.announceGainMap(in: file)
        return header
    }

    /// Returns the embedded profile, or one that the code points of the file describe; `nil` for sRGB.
    public func colorProfile(of file: Span<UInt8>) -> [UInt8]? {
        try? HEICDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in decoder.colorProfile }
    }

    /// Returns the Exif data, whose orientation does not apply, and the color profile.
    public func metadata(of file: Span<UInt8>) -> ImageMetadata {
        let metadata = try? HEICDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in
            ImageMetadata(colorProfile: decoder.colorProfile, exif: decoder.exif)
        }
        return metadata ?? ImageMetadata()
    }

    /// Returns the size of the smallest suitable image in the file: a thumbnail, or the image itself.
    public func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        header.sufficientSize(for: target)
    }

    /// Returns the memory for the planes, in several forms, and the converted pixels, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // A thumbnail is only known not to be larger than the image.
        let samples = HEICLimits.maximumStoredArea(of: header.size) * (header.bitsPerChannel > 8 ? 2 : 1)
        return samples * (header.hasAlpha ? 12 : 8) + rowSize.width * 8 + (4 << 20)
    }

    /// Decodes the image.
    public func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError) {
        try HEICDecoder.withDecoder(of: file) { (decoder) throws(CodecError) in
            try decoder.decode(header, size: rowSize, to: &rows)
        }
    }
}
#endif
