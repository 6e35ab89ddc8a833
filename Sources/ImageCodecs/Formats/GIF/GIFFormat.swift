extension ImageFormat {
    /// GIF87a and GIF89a.
    public static let gif = ImageFormat(builtIn: "GIF", mediaType: "image/gif", fileExtension: "gif")
}

/// The entry of GIF in the ``FormatTable``.
struct GIFFormat: BuiltInFormat {
    typealias Decoder = GIFRowDecoder
    typealias Verifier = GIFVerifier

    let format = ImageFormat.gif
    let signatures = [FormatSignature("GIF87a"), FormatSignature("GIF89a")]

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        try .gif(beginning, limits: limits)
    }

    func frameCounter() -> (any FrameCounter)? { GIFFrameCounter() }

    var animation: (any AnimationParser.Type)? { GIFAnimationParser.self }
}
