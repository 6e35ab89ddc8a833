import CJPEG

/// Decodes JPEG: baseline and progressive, grayscale, color, and CMYK, 8 bits per channel.
///
/// Baseline rows are decoded as their bytes arrive. A multi-scan file keeps its coefficients until the end marker;
/// until then, each complete scan can be previewed. At 1/8 of the size, the decode is coarse: only the lowest
/// frequencies are kept, scans that add other detail are skipped, and the image is complete without them. Files with
/// arithmetic coding, for which libjpeg cannot suspend, are held in memory, up to 64 MiB, and decoded at the end of
/// the file.
///
/// Damaged entropy-coded data is an error unless damage is tolerated: then decoding continues with incorrect pixels,
/// as in browsers. A file without an end marker is complete if no block is missing, and no scan that could add to them;
/// from DC coefficients only, the last scan may be incomplete.
final class JPEGRowDecoder: BuiltInRowDecoder {
    private let handle: JPEGDecoderHandle
    private let storedSize: PixelSize
    private let scale: JPEGScale
    private var buffer: [UInt8]
    private var hasEnded = false
    /// The segment parser of a coarse decode; `nil` if everything is decoded.
    private var segments: JPEGSegments?
    private let maximumScans: Int
    private(set) var warnings: Set<ImageWarning> = []

    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        let eighth = JPEGScale.eighth(of: header.size)
        if header.hasSeveralScans, header.hasManyCoefficients, eighth.covers(target, of: header.size) {
            return eighth.rowSize
        }
        return JPEGScale(of: header.size, for: target).rowSize
    }

    /// The last pixels of rows at a smaller scale are those of whole blocks, of which the image can be a part.
    static func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double? {
        JPEGScale(of: header.size, to: rowSize).map { Double($0.eighths) / 8 }
    }

    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // libjpeg's row groups: color planes, context rows and upsampling, at most 32 rows of 4 bytes at full width.
        let rows = header.size.width * 4 * 32 + bufferBytes(rowSize)
        let fixed = 256 << 10 + header.memoryUsage
        return rows + fixed + (header.hasSeveralScans ? coefficientBytes(of: header, rowSize: rowSize) : 0)
    }

    convenience init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) {
        guard let scale = JPEGScale(of: header.size, to: rowSize) else {
            throw .unsupportedFeature(.jpeg, "rows of \(rowSize) from \(header.size)")
        }
        try self.init(
            header: header, scale: scale, coarse: JPEGCoarseDecode(of: header, at: scale), limits: limits,
            toleratesDamage: toleratesDamage)
    }

    /// Creates a decoder of all coefficients, or of those that `coarse` needs.
    init(
        header: ImageHeader, scale: JPEGScale, coarse: JPEGCoarseDecode?, limits: DecodeLimits,
        toleratesDamage: Bool = false
    ) throws(CodecError) {
        storedSize = header.size
        self.scale = scale
        segments = coarse.map { JPEGSegments(for: $0) }
        maximumScans = limits.maximumScans
        let rowSize = scale.rowSize
        handle = try JPEGDecoderHandle(
            CJPEGDecoderSetup(
                stored_width: UInt32(header.size.width), stored_height: UInt32(header.size.height),
                row_width: UInt32(rowSize.width), row_height: UInt32(rowSize.height),
                eighths: UInt32(scale.eighths), maximum_scans: 0,
                is_coarse: coarse == nil ? 0 : 1, has_refinements: coarse?.needsRefinements == true ? 1 : 0,
                maximum_coefficient_bytes: (coarse?.byteCount ?? header.coefficientBytes) + (16 << 20),
                tolerates_damage: toleratesDamage ? 1 : 0, checks_only: 0),
            JPEGScanLimit(of: header.size, limits: limits))
        buffer = [UInt8](repeating: 0, count: Self.bufferBytes(rowSize))
    }

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        guard segments == nil else { return try appendCoarse(bytes, to: rows) }
        try feed(bytes, to: rows)
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        handle.endInput()
        try deliver(to: rows)
        warnings = handle.warnings
        guard hasEnded else { throw .truncated(.jpeg) }
        guard let segments, !segments.hasEnded else { return }
        guard segments.hasAllScans else { throw .truncated(.jpeg) }
        warnings.insert(.missingEnd)
    }

    var previewScan: Int? {
        let scans = handle.completeScans
        return scans > 0 ? scans : nil
    }

    func previewRowSize(maximumSide: Int) -> PixelSize? {
        // A coarse decode has a single size.
        segments == nil ? JPEGScale(of: storedSize, maximumSide: maximumSide, noLargerThan: scale).rowSize : nil
    }

    func previewDetail(of region: PixelRegion, in rowSize: PixelSize) -> (rowSize: PixelSize, region: PixelRegion)? {
        guard segments == nil, !handle.hasDetail, let scale = JPEGScale(of: storedSize, to: rowSize),
            (2...7).contains(scale.eighths)
        else { return nil }
        return (JPEGScale.eighth(of: storedSize).rowSize, region.scaled(by: 1 / Double(scale.eighths)))
    }

    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError) {
        let scale = size == self.scale.rowSize ? self.scale : JPEGScale(of: storedSize, to: size)
        guard let scale, try handle.beginPreview(eighths: scale.eighths) else { return }
        while case .rows(let count) = try handle.readPreviewRows(into: &buffer) {
            deliver(count, of: scale.rowSize.width, to: rows)
        }
    }

    var isDamaged: Bool { handle.isDamaged }

    func salvage(to rows: any RowSink) {
        guard handle.beginSalvage() else { return }
        while case .rows(let count) = try? handle.readPreviewRows(into: &buffer) {
            deliver(count, of: scale.rowSize.width, to: rows)
        }
    }

    var hasReachedEnd: Bool { segments?.hasEnded ?? hasEnded }

    private func feed(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        var rest = bytes
        while !hasEnded, !rest.isEmpty {
            try handle.feed(rest.extracting(first: JPEGDecoderHandle.largestPiece))
            rest = rest.extracting(droppingFirst: min(rest.count, JPEGDecoderHandle.largestPiece))
            try deliver(to: rows)
        }
    }

    /// Passes the required scans and an end marker to libjpeg, and continues to search for the file's own end marker.
    private func appendCoarse(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        guard var segments else { return }
        defer { self.segments = segments }
        var offset = 0
        while offset < bytes.count, !segments.hasEnded {
            let piece = segments.next(in: bytes, from: &offset)
            guard segments.scanCount <= maximumScans else {
                throw .overLimit(.scans, value: segments.scanCount, limit: maximumScans)
            }
            if hasEnded { continue }
            if segments.hasAllCoefficients {
                // An empty comment first: reaching the end of the input counts as truncation.
                let end: [UInt8] = [0xFF, 0xFE, 0, 2, 0xFF, 0xD9]
                try feed(end.span, to: rows)
                handle.endInput()
                try deliver(to: rows)
                continue
            }
            switch piece {
            case .kept(let range): try feed(bytes.extracting(range), to: rows)
            case .head(let head): try feed(head.span, to: rows)
            case .skipped: break
            }
        }
    }

    private func deliver(to rows: any RowSink) throws(CodecError) {
        while !hasEnded {
            switch try handle.readRows(into: &buffer) {
            case .rows(let count): deliver(count, of: scale.rowSize.width, to: rows)
            case .needsBytes: return
            case .ended: hasEnded = true
            }
        }
    }

    private func deliver(_ count: Int, of width: Int, to rows: any RowSink) {
        let rowBytes = width * 4
        if !rows.acceptsCMYK { handle.convertCMYK(&buffer, count: count * width) }
        for row in 0..<count {
            rows.append(row: buffer.span.extracting(row * rowBytes..<(row + 1) * rowBytes))
        }
    }

    /// Returns the size in bytes of the rows that libjpeg can produce at once, at least one row.
    private static func bufferBytes(_ rowSize: PixelSize) -> Int {
        rowSize.width * 4 * min(rowSize.height, 16)
    }

    private static func coefficientBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        let scale = JPEGScale(of: header.size, to: rowSize)
        return scale.flatMap { JPEGCoarseDecode(of: header, at: $0)?.byteCount } ?? header.coefficientBytes
    }
}
