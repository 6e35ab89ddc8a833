/// A format of this library, described by its signatures, its decoder and its verifier.
protocol BuiltInFormat: FormatDescriptor {
    /// The type that decodes files of this format.
    associatedtype Decoder: BuiltInRowDecoder
    /// The type that verifies files of this format.
    associatedtype Verifier: BuiltInVerifier

    /// The alternative signatures of its files.
    var signatures: [FormatSignature] { get }
}

extension BuiltInFormat {
    var signatureLength: Int { signatures.map(\.length).max() ?? 0 }

    func recognizes(_ beginning: Span<UInt8>) -> Bool {
        for signature in signatures where signature.matches(beginning) { return true }
        return false
    }

    func canRecognize(continuationOf beginning: Span<UInt8>) -> Bool { canBePrefix(beginning) }

    func canBePrefix(_ beginning: Span<UInt8>) -> Bool {
        for signature in signatures where signature.agrees(with: beginning) { return true }
        return false
    }

    func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        Decoder.rowSize(of: header, for: target)
    }

    func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double? {
        Decoder.rowScale(of: header, rowSize: rowSize)
    }

    func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        Decoder.workingBytes(of: header, rowSize: rowSize)
    }

    func planarWorkingBytes(of header: ImageHeader) -> Int? { Decoder.planarWorkingBytes(of: header) }

    func rowDecoder(
        for header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) -> any RowDecoder {
        try Decoder(header: header, rowSize: rowSize, limits: limits, toleratesDamage: toleratesDamage)
    }

    func verifierBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        Verifier.workingBytes(of: header, beginning: beginning)
    }

    func verifier(for header: ImageHeader, limits: DecodeLimits) throws(CodecError) -> any FileVerifier {
        try Verifier(header: header, limits: limits)
    }
}
