/// Makes an image smaller while its rows come in, and hands out each row as soon as it is complete.
///
/// Each source row is filtered along the row first, then added, weighted, to the few target rows it contributes to. So
/// only those are held (about 7, whatever the ratio), and the result does not depend on how rows are batched.
///
/// Colours are weighted by alpha, or transparent pixels would bleed into their neighbours.
final class BandResampler: RowSink {
    private let source: PixelSize
    private let target: PixelSize
    private let rows: ResamplingWeights
    private let sink: any RowSink
    private var kernel: ResamplingKernel
    private var output: [UInt8]
    private var nextSourceRow = 0
    /// First target row not yet handed out.
    private var oldestRow = 0
    /// First target row not yet begun.
    private var nextRow = 0

    /// From `source` to `target`, neither larger nor empty in any direction.
    ///
    /// Every row goes to `sink`. With `hasAlpha` false, alpha is not looked at and comes out as 255.
    init(from source: PixelSize, to target: PixelSize, hasAlpha: Bool, sink: any RowSink) {
        self.source = source
        self.target = target
        self.sink = sink
        rows = ResamplingWeights(from: source.height, to: target.height)
        kernel = ResamplingKernel(
            columns: ResamplingWeights(from: source.width, to: target.width), sourceWidth: source.width,
            accumulators: rows.greatestOverlap, hasAlpha: hasAlpha)
        output = [UInt8](repeating: 0, count: target.width * 4)
    }

    /// The most bytes such a resampler holds.
    static func workingBytes(from source: PixelSize, to target: PixelSize) -> Int {
        let lobes = Int(ResamplingWeights.lobes)
        func table(_ source: Int, _ target: Int) -> Int { (2 * lobes * source + 2 * target) * 4 + target * 16 }
        let pixel = 16
        let accumulators = (2 * lobes + 3) * target.width * pixel
        return table(source.width, target.width) + table(source.height, target.height)
            + accumulators + (source.width + target.width) * pixel + target.width * 4
    }

    func append(row: Span<UInt8>) {
        guard nextSourceRow < source.height else { return }
        kernel.filter(row)
        while nextRow < target.height, rows.starts[nextRow] <= nextSourceRow {
            kernel.clear(nextRow)
            nextRow += 1
        }
        for row in oldestRow..<nextRow where nextSourceRow <= rows.end(of: row) {
            let weight = rows.offsets[row] + nextSourceRow - rows.starts[row]
            kernel.add(to: row, weight: rows.weights[weight])
        }
        while oldestRow < nextRow, rows.end(of: oldestRow) <= nextSourceRow {
            kernel.finish(oldestRow, into: &output)
            sink.append(row: output.span)
            oldestRow += 1
        }
        nextSourceRow += 1
    }
}
