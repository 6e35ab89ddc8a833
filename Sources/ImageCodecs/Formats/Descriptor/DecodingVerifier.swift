/// Verifies a file of a built-in format without checksums, by decoding its rows.
final class DecodingVerifier<Decoder: BuiltInRowDecoder>: BuiltInVerifier {
    private let rows: RowVerifier

    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        Decoder.workingBytes(of: header, rowSize: header.size)
    }

    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        rows = RowVerifier(
            try Decoder(header: header, rowSize: header.size, limits: limits), rowCount: header.size.height)
    }

    func append(_ bytes: Span<UInt8>) throws(CodecError) { try rows.append(bytes) }

    func finish(_ header: inout ImageHeader) throws(CodecError) { try rows.finish(&header) }
}
