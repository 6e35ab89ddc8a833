/// Decodes the runs of indices of a compressed bitmap (BI_RLE4, BI_RLE8) while they arrive, from the bottom row.
///
/// Pixels that are skipped are transparent, as in browsers; pixels beyond the end of a row are ignored.
struct BitmapRuns {
    private enum State {
        /// The length of a run, or 0.
        case length
        /// The indices that repeat for this many pixels.
        case run(Int)
        /// The code after 0.
        case escape
        /// The columns and, if they are known, the rows to skip.
        case skip(columns: Int?)
        /// This many pixels in as many bytes, of which the last can be padding.
        case literal(pixels: Int, bytes: Int)
    }

    private let bits: Int
    private let palette: BitmapPalette
    private let width: Int
    private var row: [UInt8]
    private var column = 0
    private var state = State.length
    private(set) var rowsLeft: Int
    /// A Boolean value that indicates whether the code for the end of the image has been received.
    private(set) var hasEnded = false

    init(bits: Int, _ palette: BitmapPalette, size: PixelSize) {
        self.bits = bits
        self.palette = palette
        width = size.width
        row = [UInt8](repeating: 0, count: size.width * 4)
        rowsLeft = size.height
    }

    /// Takes the next bytes, and passes complete rows to `rows`.
    ///
    /// After the last row, only the code for the end of the image counts.
    mutating func append(_ bytes: Span<UInt8>, to rows: any RowSink) {
        for index in bytes.indices where !hasEnded { take(Int(bytes[index]), to: rows) }
    }

    /// Ends the file; the last row is complete if it has all pixels.
    mutating func finish(to rows: any RowSink) {
        if rowsLeft == 1, column >= width { passRow(to: rows) }
    }

    private mutating func take(_ byte: Int, to rows: any RowSink) {
        switch state {
        case .length: state = byte == 0 ? .escape : .run(byte)
        case .run(let count):
            for pixel in 0..<count { put(bits == 8 ? byte : pixel % 2 == 0 ? byte >> 4 : byte & 15) }
            state = .length
        case .escape:
            state = .length
            switch byte {
            case 0: passRow(to: rows)
            case 1:
                hasEnded = true
                while rowsLeft > 0 { passRow(to: rows) }
            case 2: state = .skip(columns: nil)
            default:
                let used = bits == 8 ? byte : (byte + 1) / 2
                state = .literal(pixels: byte, bytes: used + used % 2)
            }
        case .skip(nil): state = .skip(columns: byte)
        case .skip(let columns?):
            let start = column
            for _ in 0..<min(byte, rowsLeft) { passRow(to: rows) }
            column = min(start + columns, width)
            state = .length
        case .literal(let pixels, let bytes):
            let count = min(pixels, bits == 8 ? 1 : 2)
            for pixel in 0..<count { put(bits == 8 ? byte : pixel == 0 ? byte >> 4 : byte & 15) }
            state = bytes > 1 ? .literal(pixels: pixels - count, bytes: bytes - 1) : .length
        }
    }

    private mutating func put(_ index: Int) {
        guard rowsLeft > 0, column < width else { return }
        palette.write(index, to: &row, at: column * 4)
        column += 1
    }

    private mutating func passRow(to rows: any RowSink) {
        guard rowsLeft > 0 else { return }
        let complete = row
        rows.append(row: complete.span)
        row = [UInt8](repeating: 0, count: width * 4)
        column = 0
        rowsLeft -= 1
    }
}
