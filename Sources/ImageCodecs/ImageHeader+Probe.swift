extension ImageHeader {
    /// The header of a file that begins with `prefix`, or nil while more bytes are needed.
    ///
    /// Reads structure only: no codec runs and no pixel is decoded. Never looks behind the first byte of pixels, but
    /// counts the frames as far as `prefix` lets it. Throws `unsupportedFormat`, `corrupt`, `zeroPixels`, and
    /// `overLimit` as soon as the prefix shows it. The work is linear in the length of the header: whoever calls again
    /// and again lets the prefix grow by a share of itself in between.
    public static func probe(
        _ prefix: Span<UInt8>, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> ImageHeader? {
        try probed(prefix, limits: limits)?.header
    }

    /// The header, and where its colours are; frames are counted only if `countsFrames`, and if the header does not say it.
    static func probed(
        _ prefix: Span<UInt8>, limits: DecodeLimits, countsFrames: Bool = true
    ) throws(CodecError) -> (header: ImageHeader, colors: StoredColors)? {
        guard let format = ImageFormat(signature: prefix) else {
            guard prefix.count >= ImageFormat.signatureLength else { return nil }
            throw .unsupportedFormat(lookingLike: FormatGuess.describe(prefix))
        }

        // Only what the limit allows is looked at, so that the answer does not depend on how the bytes arrived.
        let bounded = prefix.extracting(first: min(prefix.count, max(limits.maximumHeaderBytes, 0)))
        var sources: [ColorSource] = []
        let found: ImageHeader? =
            switch format {
            case .jpeg: try jpeg(bounded, limits: limits, colors: &sources)
            case .png: try png(bounded, limits: limits, colors: &sources)
            case .webp: try webp(bounded, limits: limits, colors: &sources)
            case .gif: try gif(bounded, limits: limits)
            }
        guard var header = found else {
            guard prefix.count <= limits.maximumHeaderBytes else {
                throw .overLimit(.headerBytes, value: prefix.count, limit: limits.maximumHeaderBytes)
            }
            return nil
        }

        if countsFrames, header.frameCount == nil {
            header.frameCount = format == .gif ? gifFrameCount(prefix) : webpFrameCount(prefix)
        }
        let colors = StoredColors(sources, of: header)
        header.colorConversion = colors.conversion
        return (header, colors)
    }
}
