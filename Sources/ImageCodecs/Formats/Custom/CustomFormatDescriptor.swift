/// The adapter that makes a ``CustomFormat`` an entry of the ``FormatTable`` and enforces its contract.
struct CustomFormatDescriptor: FormatDescriptor {
    private let custom: any CustomFormat

    init(_ custom: any CustomFormat) {
        self.custom = custom
    }

    var format: ImageFormat { custom.format }

    var signatureLength: Int { custom.usableSignatureLength }

    func recognizes(_ beginning: Span<UInt8>) -> Bool { custom.claims(beginning) }

    func header(
        of beginning: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        try custom.checkedHeader(of: beginning, limits: limits, colors: &colors)
    }

    func rowSize(of header: ImageHeader, for target: PixelSize) throws(CodecError) -> PixelSize {
        let size = custom.rowSize(of: header, for: target)
        guard (1...header.size.width).contains(size.width), (1...header.size.height).contains(size.height) else {
            throw .decoderFault(header.format, "rows of \(size) for an image of \(header.size)")
        }
        return size
    }

    func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double? { nil }

    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        max(0, custom.workingBytes(of: header, rowSize: rowSize))
    }

    func rowDecoder(
        for header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder {
        CheckedRowDecoder(try custom.decoder(for: header, rowSize: rowSize), of: format, rowSize: rowSize)
    }

    func verifierBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        workingBytes(of: header, rowSize: header.size)
    }

    func verifier(for header: ImageHeader, limits: DecodeLimits) throws(CodecError) -> any FileVerifier {
        RowVerifier(
            try rowDecoder(for: header, rowSize: header.size, limits: limits, toleratesDamage: false),
            rowCount: header.size.height)
    }
}
