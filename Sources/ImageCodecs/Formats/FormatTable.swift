/// The formats that are known, in the order in which a file is offered to them.
struct FormatTable: Sendable {
    /// The formats of this library.
    ///
    /// A further one is an entry here and a folder beside theirs.
    static let builtIn = FormatTable([JPEGFormat(), PNGFormat(), WebPFormat(), GIFFormat()])

    /// The entries.
    let descriptors: [any FormatDescriptor]

    private init(_ descriptors: [any FormatDescriptor]) {
        self.descriptors = descriptors
    }

    /// The formats of this library, and behind them those of an application.
    init(adding customFormats: [any CustomFormat]) {
        self = .builtIn
        guard !customFormats.isEmpty else { return }
        self.init(descriptors + customFormats.map { CustomFormatDescriptor($0) })
    }

    /// The first format that recognizes `beginning`, whatever more bytes might tell.
    func recognized(_ beginning: Span<UInt8>) -> (any FormatDescriptor)? {
        for descriptor in descriptors where descriptor.recognizes(beginning) { return descriptor }
        return nil
    }

    /// The format of a file that begins with `prefix`, or has no more than that if it `isWhole`; nil while more bytes are
    /// needed.
    ///
    /// Throws `unsupportedFormat`.
    func format(of prefix: Span<UInt8>, isWhole: Bool) throws(CodecError) -> (any FormatDescriptor)? {
        let isLongEnough = prefix.count >= ImageFormat.signatureLength
        for descriptor in descriptors {
            if descriptor.recognizes(prefix) { return descriptor }
            // It may yet recognize the file, and comes before those that do already.
            guard isWhole && isLongEnough || prefix.count >= descriptor.signatureLength else { return nil }
        }
        guard isLongEnough else { return nil }
        throw .unsupportedFormat(lookingLike: FormatGuess.describe(prefix))
    }

    /// Why `file`, a whole one in which no header was found, is no image.
    func failure(of file: Span<UInt8>) -> CodecError {
        guard !file.isEmpty else { return .unsupportedFormat(lookingLike: "an empty file") }
        for descriptor in descriptors where descriptor.mayHaveBegun(file) { return .truncated(descriptor.format) }
        return .unsupportedFormat(lookingLike: FormatGuess.describe(file))
    }
}

extension ImageFormat {
    /// The formats that this library reads and writes.
    public static let allBuiltIn: [ImageFormat] = FormatTable.builtIn.descriptors.map(\.format)

    /// The format that `bytes`, the beginning of a file, announce by their signature, or nil if it is none of this
    /// library's.
    public init?(signature bytes: Span<UInt8>) {
        guard let descriptor = FormatTable.builtIn.recognized(bytes) else { return nil }
        self = descriptor.format
    }
}

extension ImageMetadata {
    /// What stands in `file`, a whole file or as much of it as there is; what is broken or too long counts as missing.
    ///
    /// GIF has none. Of a JPEG and a PNG the part before the pixels is enough for the profile, of a JPEG for all.
    public init(file: Span<UInt8>) {
        self.init()
        FormatTable.builtIn.recognized(file)?.readMetadata(of: file, into: &self)
    }
}
