/// Adapts the decoder of a ``CustomFormat`` and verifies that it honors its contract.
final class CheckedRowDecoder: RowDecoder {
    private var decoder: any CustomRowDecoder
    private let format: ImageFormat
    private let rowSize: PixelSize
    private var rowCount = 0

    init(_ decoder: any CustomRowDecoder, of format: ImageFormat, rowSize: PixelSize) {
        self.decoder = decoder
        self.format = format
        self.rowSize = rowSize
    }

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        try counting(rows) { (rows) throws(CodecError) in try decoder.append(bytes, to: &rows) }
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        try counting(rows) { (rows) throws(CodecError) in try decoder.finish(to: &rows) }
    }

    var previewScan: Int? { decoder.previewScan.map { min(max($0, 1), 1 << 16) } }

    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError) {
        var rows = ImageRows(of: format, size: rowSize, count: 0, to: rows)
        try decoder.renderPreview(to: &rows)
        if let failure = rows.failure { throw failure }
    }

    func salvage(to rows: any RowSink) {
        // The original error is thrown; ignore this one.
        try? counting(rows) { (rows) throws(CodecError) in try decoder.salvage(to: &rows) }
    }

    /// Detects refused rows even if `body` ignores the error.
    private func counting(
        _ sink: any RowSink, _ body: (inout ImageRows) throws(CodecError) -> Void
    ) throws(CodecError) {
        var rows = ImageRows(of: format, size: rowSize, count: rowCount, to: sink)
        defer { rowCount = rows.count }
        try body(&rows)
        if let failure = rows.failure { throw failure }
    }
}
