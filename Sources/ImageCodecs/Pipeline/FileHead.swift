/// The information at the beginning of a file.
struct FileHead: Sendable {
    let header: ImageHeader
    let colors: StoredColors
    /// The description of the file's format.
    let format: any FormatDescriptor

    /// Parses a prefix; returns `nil` while more bytes are needed, which cannot follow if the prefix `isComplete`.
    ///
    /// Frames are counted only if `countsFrames` is set and the header does not declare them.
    init?(
        of prefix: Span<UInt8>, isComplete: Bool = false, limits: DecodeLimits, countsFrames: Bool = true,
        formats: FormatTable = .builtIn
    ) throws(CodecError) {
        guard let format = try formats.format(of: prefix, isComplete: isComplete) else { return nil }
        guard isComplete || !format.needsWholeFile else { return nil }

        // Only the allowed bytes are parsed, so that the result does not depend on how the bytes arrived.
        let limit = format.needsWholeFile ? Int.max : max(limits.maximumHeaderBytes, 0)
        let bounded = prefix.extracting(first: min(prefix.count, limit))
        var sources: [ColorSource] = []
        guard var header = try format.header(of: bounded, limits: limits, colors: &sources) else {
            guard prefix.count <= limit else { throw .overLimit(.headerBytes, value: prefix.count, limit: limit) }
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
