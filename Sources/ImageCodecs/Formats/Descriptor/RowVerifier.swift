/// Verifies a file by decoding its rows, which are discarded.
final class RowVerifier: FileVerifier {
    private let decoder: any RowDecoder
    private let rowCount: Int
    private let rows = RowCounter()

    /// Creates a verifier that expects `rowCount` rows from `decoder`.
    init(_ decoder: any RowDecoder, rowCount: Int) {
        self.decoder = decoder
        self.rowCount = rowCount
    }

    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        try decoder.append(bytes, to: rows)
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        try decoder.finish(to: rows)
        guard rows.count == rowCount else { throw .truncated(header.format) }
        header.frameCount = decoder.frameCount ?? header.frameCount
        header.warnings = decoder.warnings
    }
}

/// Counts rows and keeps none.
final class RowCounter: RowSink {
    private(set) var count = 0

    func append(row: Span<UInt8>) { count += 1 }
}
