extension ImageFormat {
    /// WebP, lossy and lossless (RFC 9649).
    public static let webp = ImageFormat(builtIn: "WebP", mediaType: "image/webp", fileExtension: "webp")
}

/// The entry of WebP in the ``FormatTable``.
struct WebPFormat: BuiltInFormat {
    typealias Decoder = WebPRowDecoder
    typealias Verifier = WebPVerifier

    let format = ImageFormat.webp
    let signatures = [FormatSignature([("RIFF", 0), ("WEBP", 8)])]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        try .webp(beginning, limits: limits, colors: &colors)
    }

    func frameCounter() -> (any FrameCounter)? { WebPFrameCounter() }

    var animation: (any AnimationParser.Type)? { WebPAnimationParser.self }

    func readMetadata(of file: Span<UInt8>, into metadata: inout ImageMetadata) {
        metadata.readWebP(file)
    }
}
