extension ImageHeader {
    /// The header of a file that begins with `prefix`, or nil while more bytes are needed.
    ///
    /// Reads structure only: no codec runs and no pixel is decoded. Never looks behind the first byte of pixels, but
    /// counts the frames as far as `prefix` lets it. Throws `unsupportedFormat`, `corrupt`, `zeroPixels`, and
    /// `overLimit` as soon as the prefix shows it.
    public static func probe(
        _ prefix: Span<UInt8>, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> ImageHeader? {
        nil
    }
}
