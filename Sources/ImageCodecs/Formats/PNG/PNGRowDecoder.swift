import CPNG

/// Decodes a PNG with libpng's push decoder.
///
/// Rows of an interlaced image are final only in its last pass; the whole image is held until then. The file counts
/// as complete when its last row has been decoded, whatever follows.
@safe
final class PNGRowDecoder: BuiltInRowDecoder {
    private static let maximumExifBytes = 64 << 10
    /// The number of bytes of the checksum at the end of compressed data.
    private static let checksumLength = 4
    /// A complete `IEND` chunk.
    private static let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]

    private let reader: OpaquePointer
    private let header: ImageHeader
    /// The number of compressed bytes passed to libpng at once, so that their output fits the batch.
    private let pieceLength: Int
    private var chunks = PNGChunks()
    private let window: PNGWindowCheck
    private var lacksChecksum = false
    private var rowsHandedOut = 0
    private var hasBegun = false
    private var rowBytes: Int
    private var exif: [UInt8] = []
    private(set) var trailingOrientation: ImageOrientation?

    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // libpng's two rows of at most 8 bytes per pixel, and the window of inflate.
        let codec = header.size.width * 16 + (128 << 10)
        let rows = header.isProgressive ? header.size.height : Batch(header).rows
        // A side has up to 31 bits.
        let (pixels, overflow) = (rows * header.size.width).multipliedReportingOverflow(by: 4)
        return overflow ? .max : pixels + min(codec, .max - pixels)
    }

    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) {
        let batch = Batch(header)
        guard let width = UInt32(exactly: header.size.width), let height = UInt32(exactly: header.size.height),
            let reader = unsafe cpng_reader_create(width, height, UInt32(clamping: batch.rows))
        else { throw .outOfMemory(.png) }
        unsafe self.reader = reader
        self.header = header
        rowBytes = header.size.width * 4
        pieceLength = batch.pieceLength
        window = PNGWindowCheck(
            outputLength: min(header.size.area, 1 << 20) * header.bitsPerChannel * header.colorChannels / 8)
    }

    deinit {
        unsafe cpng_reader_destroy(reader)
    }

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        if !hasBegun, rows.accepts16BitRows, header.bitsPerChannel == 16 {
            unsafe cpng_reader_keep_16_bits(reader)
            rowBytes *= 2
        }
        hasBegun = true
        var offset = 0
        while offset < bytes.count, !hasEnded {
            switch try chunks.next(in: bytes, from: &offset) {
            case .head(let head): try feed(head.span, to: rows)
            case .imageEnd: try endImage(to: rows)
            case .image(let range, let isCompressed):
                guard isCompressed else {
                    try feed(bytes.extracting(range), to: rows)
                    break
                }
                try window.append(bytes.extracting(range))
                // libpng would lose the last row if it found the checksum wrong at the same time.
                let checksum = range.upperBound + chunks.dataLeft - Self.checksumLength
                let end = min(max(checksum, range.lowerBound), range.upperBound)
                for start in stride(from: range.lowerBound, to: end, by: pieceLength) {
                    try feed(bytes.extracting(start..<min(start + pieceLength, end)), to: rows)
                }
                try feed(bytes.extracting(end..<range.upperBound), to: rows)
            case .exif(let range, let isLate) where isLate:
                exif.append(bytes.extracting(range).extracting(first: Self.maximumExifBytes - exif.count))
            case .exif, .skipped: break
            }
        }
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        guard rowsHandedOut == header.size.height else { throw .truncated(.png) }
        if !exif.isEmpty, header.allowsLateOrientation { trailingOrientation = ImageOrientation(exif: exif.span) }
    }

    var frameCount: Int? { header.frameCount }

    var warnings: Set<ImageWarning> {
        var warnings = chunks.warnings
        if !hasEnded { warnings.insert(.missingEnd) }
        if lacksChecksum { warnings.insert(.missingChecksum) }
        if window.isTooSmall { warnings.insert(.smallWindow) }
        let deviations = unsafe Int(cpng_reader_deviations(reader))
        if deviations & CPNG_WRONG_CHECKSUM != 0 { warnings.insert(.wrongChecksum) }
        if deviations & CPNG_EXTRA_PIXELS != 0 {
            warnings.insert(.extraPixels)
        } else if deviations & CPNG_EXTRA_BYTES != 0 {
            warnings.insert(.extraBytes)
        }
        return warnings
    }

    var previewScan: Int? {
        let passes = unsafe Int(cpng_reader_complete_passes(reader))
        return header.isProgressive && passes > 0 ? passes : nil
    }

    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError) {
        for row in 0..<UInt32(clamping: header.size.height) {
            guard let pixels = unsafe cpng_reader_preview_row(reader, row) else { return }
            unsafe rows.append(row: Span(_unsafeStart: pixels, count: rowBytes))
        }
    }

    /// For an interlaced image, passes the missing rows of the last pass as earlier passes left them.
    func salvage(to rows: any RowSink) {
        guard previewScan != nil else { return }
        for row in rowsHandedOut..<header.size.height {
            guard let pixels = unsafe cpng_reader_preview_row(reader, UInt32(clamping: row)) else { return }
            unsafe rows.append(row: Span(_unsafeStart: pixels, count: rowBytes))
        }
        rowsHandedOut = header.size.height
    }

    var hasReachedEnd: Bool { hasEnded }

    private var hasEnded: Bool { chunks.hasEnded }

    /// Makes libpng check that the image is complete.
    ///
    /// It also requires the end of the compressed data, but after the last row, only the checksum is missing.
    private func endImage(to rows: any RowSink) throws(CodecError) {
        do {
            try feed(Self.end.span, to: rows)
        } catch {
            guard error.isDamage, rowsHandedOut == header.size.height else { throw error }
            lacksChecksum = true
        }
    }

    private func feed(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        let isRead = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cpng_reader_feed(reader, bytes.baseAddress, bytes.count)
        }
        // Even before an error: the rows above it are correct.
        let finalRows = unsafe Int(cpng_reader_final_rows(reader))
        while rowsHandedOut < finalRows {
            let row = unsafe cpng_reader_row(reader, UInt32(clamping: rowsHandedOut))
            if let row = unsafe row {
                unsafe rows.append(row: Span(_unsafeStart: row, count: rowBytes))
            }
            rowsHandedOut += 1
        }
        guard isRead else {
            guard unsafe !cpng_reader_is_out_of_memory(reader) else { throw .outOfMemory(.png) }
            throw .corrupt(.png, unsafe String(cString: cpng_reader_message(reader)))
        }
    }

    /// The amount of input for libpng at once, and the maximum number of rows it can complete.
    private struct Batch {
        /// Deflate produces at most 1032 bytes from one, and holds back less than this.
        private static let expansion = 1032
        private static let heldBack = 16 << 10
        private static let wantedBytes = 1 << 20

        let pieceLength: Int
        let rows: Int

        init(_ header: ImageHeader) {
            // Grayscale and indexed files can have alpha: not counting it errs on the safe side.
            let bits = header.bitsPerChannel * header.colorChannels
            let storedRow = max(1, header.size.width * bits / 8)
            let stored = Self.wantedBytes * bits / 32
            pieceLength = max(16, stored / Self.expansion)
            rows = min(header.size.height, (pieceLength * Self.expansion + Self.heldBack) / (storedRow + 1) + 2)
        }
    }
}

extension ImageHeader {
    /// A Boolean value that indicates whether an orientation after the pixels of a PNG, which nothing announces, is
    /// applied.
    ///
    /// Frames of an animation are shown before it could be known.
    var allowsLateOrientation: Bool { orientation == .up && !mayBeAnimated }

    /// A Boolean value that indicates whether what follows the pixels can change the orientation.
    package var canChangeOrientation: Bool { hasTrailingOrientation || format == .png && allowsLateOrientation }
}
