/// Checks that an image file is whole and undamaged, without making its pixels.
///
/// Append the file from its first byte in pieces of any size. When ``header`` appears, nothing large has been allocated
/// yet: the caller may first find room for ``estimatedBytes``, then calls ``begin()``. After an error every further call
/// throws the same error. Not `Sendable`: one verifier belongs to one task.
///
/// A file passes only if every byte that makes pixels can be decoded, in all scans, passes and frames, and if it goes on to
/// its format's end marker. Bytes behind the end marker are ignored.
public final class ImageVerifier {
    /// The header, as soon as enough of the file has come; its frame count is what the file says there, which may be nil.
    public private(set) var header: ImageHeader?
    /// The maximum number of bytes of memory that the check holds at once; nil until ``header`` is known.
    public private(set) var estimatedBytes: Int?

    private let limits: DecodeLimits
    private var failure: CodecError?
    private var bytesSeen = 0
    /// The file so far, until ``begin()``.
    private var beginning: FileBeginning
    private var format: (any FormatDescriptor)?
    private var file: (any FileVerifier)?

    /// Creates a verifier for one file.
    ///
    /// Files that are no JPEG, PNG, WebP or GIF are offered to `customFormats`.
    public init(limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []) {
        self.limits = limits
        beginning = FileBeginning(formats: FormatTable(adding: customFormats))
    }

    /// Appends the next bytes of the file.
    ///
    /// Before ``begin()`` they are only kept, and searched for the header. Throws as soon as the bytes show that the file
    /// cannot be verified: `unsupportedFormat`, `overLimit`, `corrupt`, `unsupportedFeature`, `zeroPixels`, `truncated` if
    /// the image ends before its pixels do, and `decoderFault`.
    public func append(_ bytes: Span<UInt8>) throws(CodecError) {
        try remembering { () throws(CodecError) in
            bytesSeen += bytes.count
            guard bytesSeen <= limits.maximumBytes else {
                throw .overLimit(.bytes, value: bytesSeen, limit: limits.maximumBytes)
            }
            if let file {
                try file.append(bytes)
            } else {
                try take(beginning.append(bytes, limits: limits))
            }
        }
    }

    /// Allocates up to ``estimatedBytes`` and checks the bytes that have been appended so far.
    ///
    /// Call it once, after ``header`` has appeared. Does nothing before that, or when called again.
    public func begin() throws(CodecError) {
        try remembering { () throws(CodecError) in
            guard file == nil, let header, let format else { return }
            let file = try format.verifier(for: header, limits: limits)
            self.file = file
            let bytes = beginning.bytes
            beginning = FileBeginning()
            try file.append(bytes.span)
        }
    }

    /// Looks for the header in everything that has been appended, at the end of a file in which it has not appeared.
    ///
    /// ``append(_:)`` may find it late, when the file has grown by an eighth. Once it is known here, memory can be found for it
    /// before ``finish()`` takes it.
    public func lookForHeaderAtEnd() throws(CodecError) {
        try remembering { () throws(CodecError) in
            if header == nil { try take(beginning.finish(limits: limits)) }
        }
    }

    /// Ends the file: returns its header with the number of frames, or throws the reason why it does not pass.
    ///
    /// The reason is `truncated` if bytes are missing. Calls ``begin()`` if that has not happened.
    public func finish() throws(CodecError) -> ImageHeader {
        try remembering { () throws(CodecError) in
            if header == nil { try take(beginning.finish(limits: limits)) }
            try begin()
            guard let file, var header else { throw beginning.missingHeader }
            try file.finish(&header)
            return header
        }
    }

    /// Verifies a whole file.
    ///
    /// Returns its header with the number of frames; throws as ``append(_:)`` and ``finish()`` do.
    public static func verify(
        _ bytes: Span<UInt8>, limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> ImageHeader {
        let verifier = ImageVerifier(limits: limits, customFormats: customFormats)
        // In pieces until the header is there, so that little is kept twice.
        var rest = bytes
        while verifier.header == nil, !rest.isEmpty {
            let piece = min(rest.count, 64 << 10)
            try verifier.append(rest.extracting(first: piece))
            rest = rest.extracting(droppingFirst: piece)
        }
        try verifier.begin()
        try verifier.append(rest)
        return try verifier.finish()
    }

    /// Throws the error that was thrown before, or keeps the one that `body` throws for the next time.
    private func remembering<Result>(_ body: () throws(CodecError) -> Result) throws(CodecError) -> Result {
        if let failure { throw failure }
        do {
            return try body()
        } catch {
            failure = error
            file = nil
            beginning = FileBeginning()
            throw error
        }
    }

    /// Takes the header once it is there.
    private func take(_ head: FileHead?) throws(CodecError) {
        guard header == nil, let head else { return }
        let bytes = head.format.verifierBytes(of: head.header, beginning: beginning.bytes.span)
        guard bytes < .max else { throw .overLimit(.memory, value: .max, limit: .max - 1) }
        estimatedBytes = bytes
        header = head.header
        format = head.format
    }
}

@available(*, unavailable)
extension ImageVerifier: Sendable {}
