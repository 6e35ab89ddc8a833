/// Decodes one image of a GIF while its data arrives, on a transparent canvas.
///
/// Rows of an interlaced image are final only in its last pass; the color indices of the image are kept until then.
struct GIFFrameDecoder {
    /// The first row and the row distance of each pass.
    private static let passes = [(first: 0, step: 8), (first: 4, step: 8), (first: 2, step: 4), (first: 1, step: 2)]

    private let frame: GIFBlocks.Frame
    private let canvas: PixelSize
    /// The RGBA colors by index.
    private let palette: [UInt8]
    /// A Boolean value that indicates whether all pixels are transparent, whatever their indices.
    private let isTransparent: Bool
    private var codes: LZWDecoder
    /// The size of the part inside the canvas; the other pixels are decoded but discarded.
    private let visible: PixelSize

    private var line: [UInt8]
    private var lineLength = 0
    /// The row being decoded, within the current pass if the image is interlaced.
    private var row = 0
    private var pass = 0
    /// The color indices of the visible part of an interlaced image.
    private var indices: [UInt8] = []
    /// The number of canvas rows passed on.
    private var rowsHandedOut = 0

    /// Creates a decoder for the image `frame` with the colors `palette`; `codeSize` is the byte before its data.
    init(
        _ frame: GIFBlocks.Frame, palette: [UInt8], codeSize: Int, canvas: PixelSize
    ) throws(CodecError) {
        self.frame = frame
        self.canvas = canvas
        self.palette = palette
        isTransparent = palette.allSatisfy { $0 == 0 }
        do {
            codes = try LZWDecoder(codeSize: codeSize)
        } catch {
            throw .corrupt(.gif, "codes of \(codeSize) bits")
        }
        visible = PixelSize(
            width: max(0, min(frame.size.width, canvas.width - frame.left)),
            height: max(0, min(frame.size.height, canvas.height - frame.top)))
        line = [UInt8](repeating: 0, count: frame.size.width)
        if frame.isInterlaced { indices = [UInt8](repeating: 0, count: visible.area) }
        if frame.size.area == 0 { row = frame.size.height }
    }

    /// A Boolean value that indicates whether all pixels have been decoded.
    var isComplete: Bool { row >= frame.size.height }

    /// A Boolean value that indicates whether all pixels are known: they have been decoded, or are transparent in any
    /// case.
    var isCertain: Bool { isComplete || isTransparent }

    /// The number of complete passes; `nil` if the image is not interlaced or no pass is complete.
    var completePasses: Int? { frame.isInterlaced && pass > 0 ? pass : nil }

    /// Decodes the next data and passes every row that is final to `rows`.
    mutating func append(_ data: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        for offset in data.indices where !isComplete && !codes.hasEnded {
            codes.append(data[offset])
            do throws(LZWDecoder.Failure) {
                while !isComplete, let length = try codes.nextString() { take(length, rows) }
            } catch {
                throw .corrupt(.gif, "an undefined code")
            }
        }
        guard isCertain || !codes.hasEnded else { throw .corrupt(.gif, "the image has too few pixels") }
    }

    /// Ends the data: passes the remaining rows and those that the image does not cover to `rows`.
    mutating func finish(to rows: any RowSink) throws(CodecError) {
        guard isCertain else { throw .corrupt(.gif, "the image has too few pixels") }
        deliver(upTo: canvas.height, rows)
    }

    /// Passes the remaining rows of an interlaced image whose data ended early, as far as they are known, to `rows`.
    mutating func salvage(to rows: any RowSink) {
        guard frame.isInterlaced, source(of: 0) != nil else { return }
        deliver(upTo: canvas.height, rows)
    }

    /// Passes all rows of an interlaced image as far as they are known to `rows`.
    ///
    /// Missing rows repeat the one above.
    func render(to rows: any RowSink) {
        var row = [UInt8](repeating: 0, count: canvas.width * 4)
        for y in 0..<canvas.height {
            guard paint(y, on: &row) else { return }
            rows.append(row: row.span)
        }
    }

    private mutating func take(_ length: Int, _ rows: any RowSink) {
        var taken = 0
        while taken < length, !isComplete {
            let count = min(length - taken, line.count - lineLength)
            for index in 0..<count { line[lineLength + index] = codes.string[taken + index] }
            taken += count
            lineLength += count
            if lineLength == line.count {
                lineLength = 0
                takeLine(rows)
            }
        }
    }

    private mutating func takeLine(_ rows: any RowSink) {
        let taken = row
        guard frame.isInterlaced else {
            row += 1
            if taken < visible.height { deliver(upTo: frame.top + taken + 1, rows) }
            return
        }
        if taken < visible.height {
            let line = line
            indices.replace(at: taken * visible.width, with: line.span.extracting(first: visible.width))
        }
        let isLastPass = pass == Self.passes.count - 1
        row += Self.passes[pass].step
        while row >= frame.size.height, pass < Self.passes.count - 1 {
            pass += 1
            row = Self.passes[pass].first
        }
        // The rows in between were decoded in earlier passes.
        if isLastPass, taken < visible.height { deliver(upTo: frame.top + taken + 1, rows) }
    }

    private mutating func deliver(upTo end: Int, _ rows: any RowSink) {
        var row = [UInt8](repeating: 0, count: canvas.width * 4)
        while rowsHandedOut < min(end, canvas.height), paint(rowsHandedOut, on: &row) {
            rows.append(row: row.span)
            rowsHandedOut += 1
        }
    }

    /// Paints row `y` of the canvas; returns `false` if none of it is known.
    private func paint(_ y: Int, on row: inout [UInt8]) -> Bool {
        guard y >= frame.top, y < frame.top + visible.height, !isTransparent else {
            for offset in row.indices { row[offset] = 0 }
            return true
        }
        var start = 0
        if frame.isInterlaced {
            guard let source = source(of: y - frame.top) else { return false }
            start = source * visible.width
        }
        var target = frame.left * 4
        for column in 0..<visible.width {
            let color = Int(frame.isInterlaced ? indices[start + column] : line[column]) * 4
            for channel in 0..<4 { row[target + channel] = palette[color + channel] }
            target += 4
        }
        return true
    }

    /// Returns the best available row of an interlaced image for row `y`: the row itself or one above; `nil` if there
    /// is none.
    private func source(of y: Int) -> Int? {
        // The row distance after this pass and before it.
        let fine = 8 >> pass
        let near = y - y % fine
        if near < row { return near }
        return pass == 0 ? nil : y - y % (fine * 2)
    }
}
