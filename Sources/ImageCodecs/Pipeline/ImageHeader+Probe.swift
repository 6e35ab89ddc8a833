extension ImageHeader {
    /// The header of a file that begins with `prefix`, or nil while more bytes are needed.
    ///
    /// Reads structure only: no codec runs and no pixel is decoded. Never looks behind the first byte of pixels, but
    /// counts the frames as far as `prefix` lets it. Files that are no JPEG, PNG, WebP or GIF are offered to
    /// `customFormats`. Throws `unsupportedFormat`, `corrupt`, `zeroPixels`, and `overLimit` as soon as the prefix shows
    /// it. The work is linear in the length of the header: whoever calls again and again lets the prefix grow by a share
    /// of itself in between.
    public static func probe(
        _ prefix: Span<UInt8>, limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> ImageHeader? {
        try FileHead(of: prefix, limits: limits, formats: FormatTable(adding: customFormats))?.header
    }
}
