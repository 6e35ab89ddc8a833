/// Makes an image, or a part of it, smaller or larger while its rows come in, and hands out each row as soon as it is
/// complete.
///
/// Each source row is filtered along the row first, then added, weighted, to the few target rows it contributes to. So
/// only those are held (about 7, however much smaller the image becomes), and the result does not depend on how rows
/// are batched.
///
/// Colours are weighted by alpha, or transparent pixels would bleed into their neighbours.
final class BandResampler: RowSink {
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

    /// From `source`, or its part `region`, to `target`; nothing of it empty.
    ///
    /// Every row goes to `sink`. With `hasAlpha` false, alpha is not looked at and comes out as 255.
    init(
        from source: PixelSize, region: PixelRegion? = nil, to target: PixelSize,
        resampling: Resampling = Resampling(), hasAlpha: Bool, sink: any RowSink
    ) {
        let region = region ?? PixelRegion(whole: source)
        self.target = target
        self.sink = sink
        rows = ResamplingWeights(
            from: source.height, start: region.top, length: region.height, to: target.height,
            filter: resampling.filter)
        let columns = ResamplingWeights(
            from: source.width, start: region.left, length: region.width, to: target.width,
            filter: resampling.filter)
        kernel = ResamplingKernel(
            columns: columns, accumulators: rows.greatestOverlap, hasAlpha: hasAlpha,
            usesLinearLight: resampling.usesLinearLight)
        output = [UInt8](repeating: 0, count: target.width * 4)
    }

    /// The most bytes such a resampler holds.
    static func workingBytes(
        from source: PixelSize, region: PixelRegion? = nil, to target: PixelSize,
        filter: Resampling.Filter = .lanczos3
    ) -> Int {
        let region = region ?? PixelRegion(whole: source)
        let columns = ResamplingWeights.cost(
            from: source.width, length: region.width, to: target.width, filter: filter)
        let rows = ResamplingWeights.cost(
            from: source.height, length: region.height, to: target.height, filter: filter)
        let pixel = 16
        return columns.bytes * 2 + rows.bytes + (rows.overlap + 1) * target.width * pixel + source.width * pixel
            + target.width * 4
    }

    func append(row: Span<UInt8>) {
        defer { nextSourceRow += 1 }
        guard oldestRow < target.height, nextSourceRow >= rows.starts[0] else { return }
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
    }
}
