/// The known formats, in the order in which they are matched against a file.
struct FormatTable: Sendable {
    /// The built-in formats.
    ///
    /// To add a format, add an entry here and a folder beside those of the others.
    static let builtIn = FormatTable([
        JPEGFormat(), PNGFormat(), WebPFormat(), GIFFormat(), BMPFormat(), ICOFormat(),
    ])

    /// The entries.
    let descriptors: [any FormatDescriptor]

    private init(_ descriptors: [any FormatDescriptor]) {
        self.descriptors = descriptors
    }

    /// Creates a table of the built-in formats, followed by those of the application.
    init(adding customFormats: [any CustomFormat]) {
        self = .builtIn
        guard !customFormats.isEmpty else { return }
        self.init(descriptors + customFormats.map { CustomFormatDescriptor($0) })
    }

    /// Returns the first format that recognizes `beginning`, even if more bytes could change the result.
    func recognized(_ beginning: Span<UInt8>) -> (any FormatDescriptor)? {
        for descriptor in descriptors where descriptor.recognizes(beginning) { return descriptor }
        return nil
    }

    /// Returns the format of a file that begins with `prefix`, or consists of it if `isComplete`; `nil` while more bytes
    /// are needed.
    ///
    /// Throws `notAnImage` or `unsupportedFormat`.
    func format(of prefix: Span<UInt8>, isComplete: Bool) throws(CodecError) -> (any FormatDescriptor)? {
        let isLongEnough = prefix.count >= ImageFormat.signatureLength
        for descriptor in descriptors {
            if descriptor.recognizes(prefix) { return descriptor }
            // It could still recognize the file, and precedes those that already do.
            let canRecognizeMore =
                isLongEnough
                ? !isComplete && descriptor.canRecognize(continuationOf: prefix)
                : prefix.count < descriptor.signatureLength
            guard !canRecognizeMore else { return nil }
        }
        guard isLongEnough else { return nil }
        throw failure(of: prefix)
    }

    /// Returns the reason why `file`, a complete file without a recognizable header, is not an image.
    func failure(of file: Span<UInt8>) -> CodecError {
        guard !file.isEmpty else { return .notAnImage(lookingLike: "an empty file") }
        for descriptor in descriptors where descriptor.canBePrefix(file) { return .truncated(descriptor.format) }
        return FormatGuess.error(of: file)
    }
}

extension ImageFormat {
    /// The formats built into this library.
    public static let allBuiltIn: [ImageFormat] = FormatTable.builtIn.descriptors.map(\.format)

    /// Creates the format identified by the signature in `bytes`, the beginning of a file; returns `nil` if it is not
    /// a built-in format.
    public init?(signature bytes: Span<UInt8>) {
        guard let descriptor = FormatTable.builtIn.recognized(bytes) else { return nil }
        self = descriptor.format
    }
}

extension ImageMetadata {
    /// Reads the metadata of `file`, a complete file or the beginning of one.
    ///
    /// Broken or oversized entries count as missing. GIF, BMP, and ICO have none. For JPEG, the part before the pixels is enough
    /// but for the gain map; for PNG, it is enough for the profile. Files without a built-in format are offered to `customFormats`.
    public init(file: Span<UInt8>, customFormats: [any CustomFormat] = []) {
        self.init()
        FormatTable(adding: customFormats).recognized(file)?.readMetadata(of: file, into: &self)
    }
}
