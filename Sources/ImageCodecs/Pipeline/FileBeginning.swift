/// The beginning of a file, looked through for its header as it grows.
struct FileBeginning: Sendable {
    /// What has come, from the first byte.
    private(set) var bytes: [UInt8] = []
    /// Not worth looking again before there are so many; never once the header is found.
    private var nextProbe = ImageFormat.signatureLength
    private let formats: FormatTable

    /// A beginning of which nothing has come.
    init(formats: FormatTable = .builtIn) {
        self.formats = formats
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
            of: bytes.span, isWhole: isWhole, limits: limits, countsFrames: false, formats: formats)
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
    var missingHeader: CodecError { formats.failure(of: bytes.span) }
}
