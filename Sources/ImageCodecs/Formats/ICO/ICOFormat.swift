extension ImageFormat {
    /// ICO, icons of Windows and of web sites.
    public static let ico = ImageFormat(
        builtIn: "ICO", mediaType: "image/vnd.microsoft.icon", fileExtension: "ico")
}

/// The entry of ICO in the ``FormatTable``.
struct ICOFormat: BuiltInFormat {
    typealias Decoder = ICORowDecoder
    typealias Verifier = DecodingVerifier<ICORowDecoder>

    let format = ImageFormat.ico
    let signatures = [FormatSignature("\0\0\u{1}\0")]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        guard let directory = try IconDirectory(beginning), let largest = directory.largest else { return nil }
        try limits.check(largest.size, .ico)
        var header = ImageHeader(format: .ico, size: largest.size)
        header.hasAlpha = true
        header.smallerSizes = directory.smallerSizes
        return header
    }
}
