extension ImageFormat {
    /// JPEG, baseline and progressive (ITU-T T.81).
    public static let jpeg = ImageFormat(builtIn: "JPEG", mediaType: "image/jpeg", fileExtension: "jpg")
}

/// The entry of JPEG in the ``FormatTable``.
struct JPEGFormat: BuiltInFormat {
    typealias Decoder = JPEGRowDecoder
    typealias Verifier = JPEGVerifier

    let format = ImageFormat.jpeg
    let signatures = [FormatSignature([0xFF, 0xD8, 0xFF])]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        try .jpeg(beginning, limits: limits, colors: &colors)
    }

    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata) {
        metadata.readJPEG(file)
    }
}
