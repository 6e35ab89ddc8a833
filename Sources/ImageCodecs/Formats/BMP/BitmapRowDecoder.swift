/// Decodes the palette and the pixels of a bitmap while they arrive, in the order of the file.
struct BitmapRowDecoder {
    private let bitmap: Bitmap
    private let format: ImageFormat
    private let paletteBytes: Int
    /// The number of bytes between the palette and the pixels that are left to skip.
    private var gap: Int
    /// The bytes of an incomplete palette or row.
    private var pending: [UInt8] = []
    private var palette: BitmapPalette?
    private var runs: BitmapRuns?
    /// The row as RGBA.
    private var row: [UInt8]
    private(set) var rowsLeft: Int

    /// Creates a decoder of the bytes that follow the header and its masks, whose pixels begin at `pixelOffset` from
    /// there, or directly after the palette.
    init(_ bitmap: Bitmap, pixelOffset: Int?, of format: ImageFormat) {
        self.bitmap = bitmap
        self.format = format
        let declared = bitmap.paletteCount * bitmap.paletteEntryBytes
        // A palette ends where the pixels begin.
        paletteBytes = min(declared, pixelOffset ?? declared)
        gap = (pixelOffset ?? paletteBytes) - paletteBytes
        row = [UInt8](repeating: 0, count: bitmap.size.width * 4)
        rowsLeft = bitmap.size.height
    }

    /// Returns the maximum memory that a decoder holds, in bytes: the palette, and a row as stored, and as RGBA, each of
    /// them up to twice while it is passed on.
    static func workingBytes(width: Int) -> Int { (8 << 10) + width * 20 }

    /// Takes the next bytes, and passes complete rows to `rows`.
    mutating func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        var position = 0
        if palette == nil {
            guard let entries = collect(paletteBytes, of: bytes, at: &position) else { return }
            let palette = BitmapPalette(entries.span, entryBytes: bitmap.paletteEntryBytes)
            self.palette = palette
            if case .runs(let bits) = bitmap.kind { runs = BitmapRuns(bits: bits, palette, size: bitmap.size) }
        }
        let skipped = min(gap, bytes.count - position)
        gap -= skipped
        position += skipped
        guard gap == 0 else { return }
        guard runs == nil else {
            runs?.append(bytes.extracting(position...), to: rows)
            rowsLeft = runs?.rowsLeft ?? 0
            return
        }
        while rowsLeft > 0, position < bytes.count {
            if pending.isEmpty, bytes.count - position >= bitmap.rowBytes {
                pass(bytes.extracting(position..<position + bitmap.rowBytes), to: rows)
                position += bitmap.rowBytes
            } else if let stored = collect(bitmap.rowBytes, of: bytes, at: &position) {
                pass(stored.span, to: rows)
            }
        }
    }

    /// Returns the next `count` bytes, with those that are pending first, or keeps them until there are as many.
    private mutating func collect(_ count: Int, of bytes: Span<UInt8>, at position: inout Int) -> [UInt8]? {
        let end = position + min(count - pending.count, bytes.count - position)
        pending.append(bytes.extracting(position..<end))
        position = end
        guard pending.count == count else { return nil }
        defer { pending.removeAll(keepingCapacity: true) }
        return pending
    }

    /// Ends the file; returns the warnings, or throws `truncated`.
    mutating func finish(to rows: any RowSink) throws(CodecError) -> Set<ImageWarning> {
        if runs != nil {
            runs?.finish(to: rows)
            rowsLeft = runs?.rowsLeft ?? 0
            guard rowsLeft == 0 else { throw .truncated(format) }
            return runs?.hasEnded == true ? [] : [.missingEnd]
        }
        // Only the padding of the last row is missing.
        if palette != nil, rowsLeft == 1, pending.count >= bitmap.usedRowBytes {
            let stored = pending
            pass(stored.span, to: rows)
            return [.missingData]
        }
        guard rowsLeft == 0 else { throw .truncated(format) }
        return []
    }

    private mutating func pass(_ stored: Span<UInt8>, to rows: any RowSink) {
        if case .channels(let channels) = bitmap.kind {
            channels.convert(stored, bytesPerPixel: bitmap.bitsPerPixel / 8, into: &row)
        } else {
            palette?.convert(stored, bits: bitmap.bitsPerPixel, into: &row)
        }
        let row = row
        rows.append(row: row.span)
        rowsLeft -= 1
    }
}
