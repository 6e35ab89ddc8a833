extension ImageFormat {
    /// PNG (W3C PNG, third edition).
    public static let png = ImageFormat(builtIn: "PNG", mediaType: "image/png", fileExtension: "png")
}

/// The entry of PNG in the ``FormatTable``.
struct PNGFormat: BuiltInFormat {
    typealias Decoder = PNGRowDecoder
    typealias Verifier = PNGVerifier

    let format = ImageFormat.png
    let signatures = [FormatSignature(.pngSignature)]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        try .png(beginning, limits: limits, colors: &colors)
    }

    var animation: (any AnimationParser.Type)? { APNGParser.self }

    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata) {
        metadata.readPNG(file)
    }
}
