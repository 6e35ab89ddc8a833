extension ImageFormat {
    /// BMP of Windows and OS/2.
    public static let bmp = ImageFormat(builtIn: "BMP", mediaType: "image/bmp", fileExtension: "bmp")
}

/// The entry of BMP in the ``FormatTable``.
struct BMPFormat: BuiltInFormat {
    typealias Decoder = BMPRowDecoder
    typealias Verifier = DecodingVerifier<BMPRowDecoder>

    let format = ImageFormat.bmp
    // Two letters alone can begin a text. No header of a bitmap has more than 255 bytes; some writers use the reserved
    // bytes before its length.
    let signatures = [FormatSignature([("BM", 0), ("\0\0\0", 15)])]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        guard let bitmap = try Bitmap(beginning, at: BMPRowDecoder.fileHeaderLength, of: .bmp) else { return nil }
        try limits.check(bitmap.size, .bmp)
        var header = ImageHeader(format: .bmp, size: bitmap.size)
        header.hasAlpha = bitmap.hasAlpha
        header.bitsPerChannel = bitmap.bitsPerChannel
        header.colorChannels = bitmap.paletteCount > 0 ? 1 : 3
        header.isBottomUp = !bitmap.isTopDown
        if bitmap.hasOtherColors { colors = [.unusable] }
        return header
    }
}
