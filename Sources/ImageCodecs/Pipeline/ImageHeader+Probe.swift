extension ImageHeader {
    /// Returns the header of a file that begins with `prefix`, or `nil` while more bytes are needed.
    ///
    /// Parses structure only: no codec runs and no pixel is decoded. Does not read past the first byte of pixels,
    /// except to count the frames within `prefix`. Files that have no built-in format are offered to
    /// `customFormats`. Throws `unsupportedFormat`, `corrupt`, `zeroPixels`, and `overLimit` as soon as the prefix
    /// shows the problem. The time is linear in the length of the header: if you call this method repeatedly, let the
    /// prefix grow by a share of its length between calls. Set `isComplete` if `prefix` is the whole file, which a
    /// ``WholeFileFormat`` needs.
    public static func probe(
        _ prefix: Span<UInt8>, isComplete: Bool = false, limits: DecodeLimits = DecodeLimits(),
        customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> ImageHeader? {
        let formats = FormatTable(adding: customFormats)
        return try FileHead(of: prefix, isComplete: isComplete, limits: limits, formats: formats)?.header
    }
}
