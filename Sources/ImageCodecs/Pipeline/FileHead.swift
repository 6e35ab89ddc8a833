/// What the beginning of a file tells.
struct FileHead: Sendable {
    let header: ImageHeader
    let colors: StoredColors
    /// What is known of the file's format.
    let format: any FormatDescriptor

    /// Nil while more bytes are needed, of which there are none if the prefix `isWhole`; frames are counted only if
    /// `countsFrames`, and if the header does not say it.
    init?(
        of prefix: Span<UInt8>, isWhole: Bool = false, limits: DecodeLimits, countsFrames: Bool = true,
        formats: FormatTable = .builtIn
    ) throws(CodecError) {
        guard let format = try formats.format(of: prefix, isWhole: isWhole) else { return nil }

        // Only what the limit allows is looked at, so that the answer does not depend on how the bytes arrived.
        let bounded = prefix.extracting(first: min(prefix.count, max(limits.maximumHeaderBytes, 0)))
        var sources: [ColorSource] = []
        guard var header = try format.header(of: bounded, limits: limits, colors: &sources) else {
            guard prefix.count <= limits.maximumHeaderBytes else {
                throw .overLimit(.headerBytes, value: prefix.count, limit: limits.maximumHeaderBytes)
            }
            return nil
        }

        if countsFrames, header.frameCount == nil, var frames = format.frameCounter() {
            frames.append(prefix)
            header.frameCount = frames.count
        }
        colors = StoredColors(sources, of: header)
        header.colorConversion = colors.conversion
        self.header = header
        self.format = format
    }
}
