/// Decodes a bitmap of an icon, and the mask of transparent pixels that follows it; both begin with the bottom row.
///
/// The mask counts unless the pixels have alpha. Holds all pixels, because it comes last.
final class IconBitmap {
    private let bitmap: Bitmap
    private let pixels: CollectedRows
    private var decoder: BitmapRowDecoder
    /// The number of bytes left before the mask.
    private var pixelBytesLeft: Int
    private var mask: [UInt8] = []
    private var hasPassedRows = false
    /// The deviations of the bitmap, known once `finish` has returned.
    private(set) var warnings: Set<ImageWarning> = []

    /// The number of bytes in a row of the mask.
    private var maskRowBytes: Int { (bitmap.size.width + 31) / 32 * 4 }

    init(_ bitmap: Bitmap) throws(CodecError) {
        if case .runs = bitmap.kind { throw .unsupportedFeature(.ico, "compressed bitmaps") }
        self.bitmap = bitmap
        decoder = BitmapRowDecoder(bitmap, pixelOffset: nil, of: .ico)
        pixels = CollectedRows(capacity: bitmap.size.area * 4)
        pixelBytesLeft = bitmap.paletteEnd - bitmap.paletteOffset + bitmap.rowBytes * bitmap.size.height
    }

    static func workingBytes(_ size: PixelSize) -> Int {
        size.area * 4 + size.height * (size.width / 8 + 4) + BitmapRowDecoder.workingBytes(width: size.width)
    }

    /// Takes the next bytes after the header and its masks.
    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        guard !hasPassedRows else { return }
        let count = min(pixelBytesLeft, bytes.count)
        try decoder.append(bytes.extracting(first: count), to: pixels)
        pixelBytesLeft -= count
        let maskBytes = maskRowBytes * bitmap.size.height
        let rest = bytes.extracting(droppingFirst: count)
        mask.append(rest.extracting(first: min(rest.count, maskBytes - mask.count)))
        if mask.count == maskBytes, pixelBytesLeft == 0 { passRows(to: rows) }
    }

    /// Ends the image; the mask can be missing or incomplete if the pixels have alpha, with a warning.
    func finish(to rows: any RowSink) throws(CodecError) {
        guard !hasPassedRows else { return }
        guard pixelBytesLeft == 0, hasAlpha else { throw .truncated(.ico) }
        warnings = [.missingData]
        passRows(to: rows)
    }

    /// Passes the pixels of an image without its mask.
    func salvage(to rows: any RowSink) {
        if pixelBytesLeft == 0, !hasPassedRows { passRows(to: rows) }
    }

    /// A Boolean value that indicates whether the alpha channel is in use: some pixel is not transparent.
    private var hasAlpha: Bool {
        bitmap.hasAlpha && stride(from: 3, to: pixels.bytes.count, by: 4).contains { pixels.bytes[$0] != 0 }
    }

    private func passRows(to rows: any RowSink) {
        hasPassedRows = true
        let (width, height) = (bitmap.size.width, bitmap.size.height)
        let hasAlpha = hasAlpha
        for y in 0..<height {
            let stored = bitmap.isTopDown ? y : height - 1 - y
            var row = Array(pixels.bytes[stored * width * 4..<(stored + 1) * width * 4])
            if !hasAlpha {
                for x in 0..<width {
                    let place = stored * maskRowBytes + x / 8
                    let isMasked = place < mask.count && mask[place] >> (7 - x % 8) & 1 == 1
                    row[x * 4 + 3] = isMasked ? 0 : 255
                }
            }
            rows.append(row: row.span)
        }
    }
}

/// Rows one after the other.
private final class CollectedRows: RowSink {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    func append(row: Span<UInt8>) { bytes.append(row) }
}
