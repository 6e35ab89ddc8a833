/// The beginning of a file, searched for its header as it grows.
struct FileBeginning: Sendable {
    /// The received bytes, from the first one.
    private(set) var bytes: [UInt8] = []
    /// The length at which to search again; never once the header is found.
    private var nextProbe = ImageFormat.signatureLength
    /// The format of the file, if it needs all of it.
    private(set) var wholeFileFormat: (any FormatDescriptor)?
    /// The declared number of bytes in the file; `nil` if unknown.
    var expectedLength: Int?
    private let formats: FormatTable

    /// Creates an empty beginning.
    init(formats: FormatTable = .builtIn) {
        self.formats = formats
    }

    /// Appends the next bytes; returns the header information once it is complete.
    ///
    /// The first 4 KiB are searched with every piece. With longer metadata, the header can be found late by an eighth
    /// of the length. The header of a format that needs the complete file is found only at its end.
    mutating func append(_ newBytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> FileHead? {
        makeRoom(for: newBytes.count, upTo: limits.maximumBytes)
        bytes.append(newBytes)
        guard bytes.count >= nextProbe else { return nil }
        return try probe(isComplete: false, limits: limits)
    }

    /// Reserves capacity for a long file whose length is declared.
    ///
    /// An array that grows by itself holds up to three times as much. Because the declared length can be wrong, the
    /// capacity is at most 16 times the number of bytes received, and a length over the limit is ignored. The bytes held
    /// while the array is copied are at most about those of the file.
    private mutating func makeRoom(for count: Int, upTo maximum: Int) {
        let needed = bytes.count + count
        guard let expectedLength, expectedLength <= maximum, needed <= expectedLength,
            needed > max(bytes.capacity, 1 << 20)
        else { return }
        bytes.reserveCapacity(expectedLength / 16 < needed ? expectedLength : 8 * needed)
    }

    /// Searches for the header at the end of the file.
    mutating func finish(limits: DecodeLimits) throws(CodecError) -> FileHead? {
        try probe(isComplete: true, limits: limits)
    }

    private mutating func probe(isComplete: Bool, limits: DecodeLimits) throws(CodecError) -> FileHead? {
        // Counting only the frames received together with the header would depend on how the bytes arrived.
        if let found = try FileHead(
            of: bytes.span, isComplete: isComplete, limits: limits, countsFrames: false, formats: formats)
        {
            try limits.check(found.header.size, found.header.format)
            nextProbe = .max
            return found
        }
        if let format = try formats.format(of: bytes.span, isComplete: isComplete), format.needsWholeFile {
            wholeFileFormat = format
            nextProbe = .max
            return nil
        }
        // A search takes time proportional to the prefix, so longer prefixes must grow by a share first.
        nextProbe = bytes.count + (bytes.count < 4 << 10 ? 1 : bytes.count / 8)
        return nil
    }

    /// Returns the maximum number of bytes before the header is complete: those of a file, if the format needs all of it.
    func maximumHeaderBytes(_ limits: DecodeLimits) -> Int {
        nextProbe == .max ? limits.maximumBytes : limits.maximumHeaderBytes
    }

    /// Returns the header information of `file`, a complete file, if it is not read in pieces; otherwise `nil`.
    func headOfWhole(_ file: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> FileHead? {
        guard bytes.isEmpty, try formats.format(of: file, isComplete: true)?.needsWholeFile == true else { return nil }
        return try FileHead(of: file, isComplete: true, limits: limits, countsFrames: false, formats: formats)
    }

    /// The error for a file without a header.
    var missingHeader: CodecError { formats.failure(of: bytes.span) }
}
