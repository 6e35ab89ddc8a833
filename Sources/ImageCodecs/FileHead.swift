/// What the beginning of a file tells.
struct FileHead: Sendable {
    let header: ImageHeader
    let colors: StoredColors
    /// What decodes the file.
    let codec: RowCodec

    /// Nil while more bytes are needed, of which there are none if the prefix `isWhole`; frames are counted only if
    /// `countsFrames`, and if the header does not say it.
    init?(
        of prefix: Span<UInt8>, isWhole: Bool = false, limits: DecodeLimits, countsFrames: Bool = true,
        customFormats: [any CustomFormat] = []
    ) throws(CodecError) {
        guard let codec = try RowCodec(of: prefix, isWhole: isWhole, customFormats: customFormats) else { return nil }

        // Only what the limit allows is looked at, so that the answer does not depend on how the bytes arrived.
        let bounded = prefix.extracting(first: min(prefix.count, max(limits.maximumHeaderBytes, 0)))
        var sources: [ColorSource] = []
        let found: ImageHeader? =
            switch codec {
            case .builtIn(.jpeg): try .jpeg(bounded, limits: limits, colors: &sources)
            case .builtIn(.png): try .png(bounded, limits: limits, colors: &sources)
            case .builtIn(.webp): try .webp(bounded, limits: limits, colors: &sources)
            case .builtIn(.gif): try .gif(bounded, limits: limits)
            case .custom(let format): try format.checkedHeader(of: bounded, limits: limits, colors: &sources)
            }
        guard var header = found else {
            guard prefix.count <= limits.maximumHeaderBytes else {
                throw .overLimit(.headerBytes, value: prefix.count, limit: limits.maximumHeaderBytes)
            }
            return nil
        }

        if countsFrames, header.frameCount == nil {
            header.frameCount =
                header.format == .gif ? ImageHeader.gifFrameCount(prefix) : ImageHeader.webpFrameCount(prefix)
        }
        colors = StoredColors(sources, of: header)
        header.colorConversion = colors.conversion
        self.header = header
        self.codec = codec
    }
}
