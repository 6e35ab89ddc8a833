extension ImageHeader {
    /// Returns the header of a file that begins with `prefix`, or `nil` while more bytes are needed.
    ///
    /// Parses structure only: no codec runs and no pixel is decoded. Does not read past the first byte of pixels,
    /// except to count the frames within `prefix`. Files that are not JPEG, PNG, WebP, or GIF are offered to
    /// `customFormats`. Throws `unsupportedFormat`, `corrupt`, `zeroPixels`, and `overLimit` as soon as the prefix
    /// shows the problem. The time is linear in the length of the header: if you call this method repeatedly, let the
    /// prefix grow by a share of its length between calls.
    public static func probe(
        _ prefix: Span<UInt8>, limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> ImageHeader? {
        try FileHead(of: prefix, limits: limits, formats: FormatTable(adding: customFormats))?.header
    }
}
