/// Verifies that an image file is complete and undamaged, without producing its pixels.
///
/// Append the file from its first byte in pieces of any size. When ``header`` becomes available, the verifier has not
/// allocated much memory yet: reserve ``estimatedBytes`` if necessary, then call ``begin()``. After an error, every
/// further call throws the same error. A verifier is not `Sendable`: use it in only one task at a time.
///
/// A file is valid only if all pixel data can be decoded, in all scans, passes, and frames, and its checksums are right.
/// Deviations that leave no pixel missing or doubtful, such as a missing end marker after the last pixel, are
/// ``ImageHeader/warnings`` of a valid file. Bytes after the end marker are ignored.
public final class ImageVerifier {
    /// The header, available as soon as enough of the file has been received.
    ///
    /// Its frame count is the declared one, which can be `nil`.
    public private(set) var header: ImageHeader?
    /// The maximum memory that the check holds at once, in bytes; `nil` until ``header`` is known.
    public private(set) var estimatedBytes: Int?

    private let limits: DecodeLimits
    private var failure: CodecError?
    private var bytesSeen = 0
    /// The received file, until ``begin()``.
    private var beginning: FileBeginning

    /// The declared number of bytes in the file, which limits the memory in which it is collected; `nil` if unknown.
    package var expectedLength: Int? {
        get { beginning.expectedLength }
        set { beginning.expectedLength = newValue }
    }

    /// The maximum number of bytes before ``header`` is known: those of a file, if its format needs all of it.
    package var maximumHeaderBytes: Int { beginning.maximumHeaderBytes(limits) }

    /// A Boolean value that indicates whether the format needs the whole file, whose bytes ``estimatedBytes``
    /// then includes.
    package var needsWholeFile: Bool { format?.needsWholeFile == true }

    private var format: (any FormatDescriptor)?
    private var file: (any FileVerifier)?

    /// Creates a verifier for one file.
    ///
    /// Files that have no built-in format are offered to `customFormats`.
    public init(limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []) {
        self.limits = limits
        beginning = FileBeginning(formats: FormatTable(adding: customFormats))
    }

    /// Appends the next bytes of the file.
    ///
    /// Before ``begin()``, they are only kept and searched for the header. Throws as soon as the bytes show that the
    /// file cannot be verified: `unsupportedFormat`, `overLimit`, `corrupt`, `unsupportedFeature`, `zeroPixels`,
    /// `truncated` if the image ends before its pixels do, and `decoderFault`.
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

    /// Allocates up to ``estimatedBytes`` and checks the appended bytes.
    ///
    /// Call this method once, after ``header`` has been set. Does nothing before that or when called again.
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

    /// Searches all appended bytes for the header; call this method at the end of a file if ``header`` is still `nil`.
    ///
    /// When the metadata is long, ``append(_:)`` searches again only after the file has grown by an eighth, so it may
    /// not have found the header yet. If this method finds the header, you can reserve memory before ``finish()``
    /// allocates any.
    public func lookForHeaderAtEnd() throws(CodecError) {
        try remembering { () throws(CodecError) in
            if header == nil { try take(beginning.finish(limits: limits)) }
        }
    }

    /// Ends the file: returns its header with the number of frames and the warnings, or throws the reason why it fails
    /// verification.
    ///
    /// The reason is `truncated` if bytes are missing. Calls ``begin()`` if it has not been called.
    public func finish() throws(CodecError) -> ImageHeader {
        try remembering { () throws(CodecError) in
            if header == nil { try take(beginning.finish(limits: limits)) }
            try begin()
            guard let file, var header else { throw beginning.missingHeader }
            try file.finish(&header)
            return header
        }
    }

    /// Verifies a complete file.
    ///
    /// Returns its header with the number of frames and the warnings; throws the errors of ``append(_:)`` and ``finish()``.
    public static func verify(
        _ bytes: Span<UInt8>, limits: DecodeLimits = DecodeLimits(), customFormats: [any CustomFormat] = []
    ) throws(CodecError) -> ImageHeader {
        let verifier = ImageVerifier(limits: limits, customFormats: customFormats)
        // In pieces until the header is known, to hold as little as possible twice.
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

    /// Throws the error that was thrown before, or stores the one that `body` throws for the next call.
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

    /// Processes the header once it is known.
    private func take(_ head: FileHead?) throws(CodecError) {
        guard header == nil, let head else { return }
        let held = head.format.needsWholeFile ? beginning.bytes.count : 0
        let working = head.format.verifierBytes(of: head.header, beginning: beginning.bytes.span)
        let bytes = working.addingReportingOverflow(held).overflow ? .max : working + held
        guard bytes < .max else { throw .overLimit(.memory, value: .max, limit: .max - 1) }
        estimatedBytes = bytes
        header = head.header
        format = head.format
    }
}

@available(*, unavailable)
extension ImageVerifier: Sendable {}
