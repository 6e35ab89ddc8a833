import CJPEG

/// Reads JPEG: baseline and progressive, grey, colour and four inks, 8 bits a channel.
///
/// Baseline rows come as their bytes do. A file of several scans keeps its coefficients until the end marker; until
/// then each complete scan can be previewed. Files with arithmetic coding, which libjpeg cannot suspend, are held in
/// memory, up to 64 MiB, and decoded when the file is at its end.
///
/// Damaged entropy data is let pass with whatever pixels it gives, as browsers do; a file without its end marker
/// is truncated even if all its rows are there.
final class JPEGRowDecoder: RowDecoder {
    private let handle: JPEGDecoderHandle
    private let rowBytes: Int
    private var buffer: [UInt8]
    private var hasEnded = false

    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        JPEGScale(of: header.size, for: target).rowSize
    }

    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // libjpeg's row groups: colour planes, context rows and upsampling, at most 32 rows of 4 bytes at full width.
        let rows = header.size.width * 4 * 32 + bufferBytes(rowSize)
        let fixed = 256 << 10
        let needsCoefficients = header.isProgressive || header.hasSeparateScans
        return rows + fixed + (needsCoefficients ? coefficientBytes(of: header) : 0)
    }

    init(header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits) throws(CodecError) {
        guard let scale = JPEGScale(of: header.size, to: rowSize) else {
            throw .unsupportedFeature(.jpeg, "rows of \(rowSize) from \(header.size)")
        }
        handle = try JPEGDecoderHandle(
            CJPEGDecoderSetup(
                stored_width: UInt32(header.size.width), stored_height: UInt32(header.size.height),
                row_width: UInt32(rowSize.width), row_height: UInt32(rowSize.height),
                eighths: UInt32(scale.eighths), maximum_scans: UInt32(clamping: limits.maximumScans),
                maximum_coefficient_bytes: Self.coefficientBytes(of: header) + (16 << 20)))
        rowBytes = rowSize.width * 4
        buffer = [UInt8](repeating: 0, count: Self.bufferBytes(rowSize))
    }

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        var rest = bytes
        while !hasEnded, !rest.isEmpty {
            try handle.feed(rest.extracting(first: JPEGDecoderHandle.largestPiece))
            rest = rest.extracting(droppingFirst: min(rest.count, JPEGDecoderHandle.largestPiece))
            try deliver(to: rows)
        }
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        handle.endInput()
        try deliver(to: rows)
        guard hasEnded else { throw .truncated(.jpeg) }
    }

    var previewScan: Int? {
        let scans = handle.completeScans
        return scans > 0 ? scans : nil
    }

    func renderPreview(to rows: any RowSink) throws(CodecError) {
        guard try handle.beginPreview() else { return }
        while case .rows(let count) = try handle.readPreviewRows(into: &buffer) {
            handOver(count, to: rows)
        }
    }

    private func deliver(to rows: any RowSink) throws(CodecError) {
        while !hasEnded {
            switch try handle.readRows(into: &buffer) {
            case .rows(let count): handOver(count, to: rows)
            case .needsBytes: return
            case .ended: hasEnded = true
            }
        }
    }

    private func handOver(_ count: Int, to rows: any RowSink) {
        for row in 0..<count {
            rows.append(row: buffer.span.extracting(row * rowBytes..<(row + 1) * rowBytes))
        }
    }

    /// Room for the rows that libjpeg can have ready at once, or for one row at least.
    private static func bufferBytes(_ rowSize: PixelSize) -> Int {
        rowSize.width * 4 * min(rowSize.height, 16)
    }

    /// Two bytes a coefficient, each channel at full resolution and padded to the largest MCU, 32 by 32 pixels.
    ///
    /// The header does not say how coarsely the colours are sampled; the usual 4:2:0 needs half of this.
    private static func coefficientBytes(of header: ImageHeader) -> Int {
        func padded(_ side: Int) -> Int { (side + 31) / 32 * 32 }
        return padded(header.size.width) * padded(header.size.height) * 2 * header.colorChannels
    }
}
