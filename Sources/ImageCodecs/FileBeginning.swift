/// The beginning of a file, looked through for its header as it grows.
struct FileBeginning: Sendable {
    /// What has come, from the first byte.
    private(set) var bytes: [UInt8] = []
    /// Not worth looking again before there are so many; never once the header is found.
    private var nextProbe = ImageFormat.signatureLength
    private let customFormats: [any CustomFormat]

    /// A beginning of which nothing has come.
    init(customFormats: [any CustomFormat] = []) {
        self.customFormats = customFormats
    }

    /// Takes the next bytes; what they tell, once the header is there.
    ///
    /// The first 4 KiB are looked through with every piece. Of more, which metadata are, the answer may come an eighth late.
    mutating func append(_ newBytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> FileHead? {
        bytes.append(newBytes)
        guard bytes.count >= nextProbe else { return nil }
        return try probe(isWhole: false, limits: limits)
    }

    /// Looks in any case, at the end of the file.
    mutating func finish(limits: DecodeLimits) throws(CodecError) -> FileHead? {
        try probe(isWhole: true, limits: limits)
    }

    private mutating func probe(isWhole: Bool, limits: DecodeLimits) throws(CodecError) -> FileHead? {
        // Counting the frames that have come with the header would tell how they came, no more.
        if let found = try FileHead(
            of: bytes.span, isWhole: isWhole, limits: limits, countsFrames: false, customFormats: customFormats)
        {
            try limits.check(found.header.size, found.header.format)
            nextProbe = .max
            return found
        }
        // Looking costs time in proportion to the prefix, so beyond the usual it has to have grown by a share of itself.
        nextProbe = bytes.count + (bytes.count < 4 << 10 ? 1 : bytes.count / 8)
        return nil
    }

    /// Why a file without a header is none.
    var missingHeader: CodecError {
        guard !bytes.isEmpty else { return .unsupportedFormat(lookingLike: "an empty file") }
        if let format = ImageFormat(signature: bytes.span) ?? ImageFormat(beginningOfSignature: bytes.span) {
            return .truncated(format)
        }
        for format in customFormats where format.claims(bytes.span) { return .truncated(format.format) }
        return .unsupportedFormat(lookingLike: FormatGuess.describe(bytes.span))
    }
}

extension ImageFormat {
    /// The format whose signature begins with these bytes, fewer than it has.
    fileprivate init?(beginningOfSignature bytes: Span<UInt8>) {
        let samples: [(ImageFormat, [UInt8])] = [
            (.jpeg, [0xFF, 0xD8, 0xFF]), (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            (.webp, Array("RIFF".utf8)), (.gif, Array("GIF8".utf8)),
        ]
        let found = samples.first { _, signature in
            (0..<min(bytes.count, signature.count)).allSatisfy { bytes[$0] == signature[$0] }
        }
        guard let found, bytes.count < Self.signatureLength else { return nil }
        self = found.0
    }
}
