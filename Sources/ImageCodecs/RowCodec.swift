/// What decodes a file: a decoder of ours, or a format that was handed in.
enum RowCodec: Sendable {
    case builtIn(BuiltInFormat)
    case custom(any CustomFormat)

    /// The codec for a file that begins with `prefix`, or has no more than that if it `isWhole`; nil while more bytes are
    /// needed.
    ///
    /// Throws `unsupportedFormat`.
    init?(of prefix: Span<UInt8>, isWhole: Bool, customFormats: [any CustomFormat]) throws(CodecError) {
        if let format = BuiltInFormat(signature: prefix) {
            self = .builtIn(format)
            return
        }
        guard prefix.count >= ImageFormat.signatureLength else { return nil }
        for format in customFormats {
            if format.claims(prefix) {
                self = .custom(format)
                return
            }
            // It may yet claim the file, and comes before those that do already.
            guard isWhole || prefix.count >= format.usableSignatureLength else { return nil }
        }
        throw .unsupportedFormat(lookingLike: FormatGuess.describe(prefix))
    }

    /// See ``BuiltInRowDecoder/rowSize(of:for:)``.
    func rowSize(of header: ImageHeader, for target: PixelSize) throws(CodecError) -> PixelSize {
        switch self {
        case .builtIn(let format): return format.rowDecoder.rowSize(of: header, for: target)
        case .custom(let format):
            let size = format.rowSize(of: header, for: target)
            guard (1...header.size.width).contains(size.width), (1...header.size.height).contains(size.height) else {
                throw .decoderFault(header.format, "rows of \(size) for an image of \(header.size)")
            }
            return size
        }
    }

    /// See ``BuiltInRowDecoder/workingBytes(of:rowSize:)``.
    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        switch self {
        case .builtIn(let format): format.rowDecoder.workingBytes(of: header, rowSize: rowSize)
        case .custom(let format): max(0, format.workingBytes(of: header, rowSize: rowSize))
        }
    }

    /// A decoder for a file with this header; with `toleratesDamage` it goes on behind damaged data if it can.
    func decoder(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder {
        switch self {
        case .builtIn(let format):
            try format.rowDecoder.init(
                header: header, rowSize: rowSize, limits: limits, toleratesDamage: toleratesDamage)
        case .custom(let format):
            CheckedRowDecoder(
                try format.decoder(for: header, rowSize: rowSize), of: format.format, rowSize: rowSize)
        }
    }
}
