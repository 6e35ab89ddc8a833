/// Makes an image, or a part of it, smaller or larger while its rows come in, and hands out each row as soon as it is
/// complete.
///
/// Each source row is filtered along the row first and then kept until the last target row it contributes to has been
/// made: 96 bytes for each source column with Lanczos, however much smaller the image becomes. The result does not depend
/// on how rows are batched.
///
/// Colors are weighted by alpha, or transparent pixels would bleed into their neighbors.
final class BandResampler: RowSink {
    private let target: PixelSize
    private let rows: ResamplingWeights
    private let sink: any RowSink
    private var kernel: ResamplingKernel
    private var output: [UInt8]
    private var nextSourceRow = 0
    private var nextTargetRow = 0

    /// From `source`, or its part `region`, to `target`; nothing of it empty.
    ///
    /// Every row goes to `sink`. With `hasAlpha` false, alpha is not looked at and comes out opaque. Rows have 16 bits a
    /// channel with `isDeep`.
    convenience init(
        from source: PixelSize, region: PixelRegion? = nil, to target: PixelSize,
        resampling: Resampling = Resampling(), hasAlpha: Bool, isDeep: Bool = false, sink: any RowSink
    ) {
        let region = region ?? PixelRegion(whole: source)
        let rows = ResamplingWeights(
            from: source.height, start: region.top, length: region.height, to: target.height,
            filter: resampling.filter)
        let columns = ResamplingWeights(
            from: source.width, start: region.left, length: region.width, to: target.width,
            filter: resampling.filter)
        self.init(
            rows: rows, columns: columns, usesLinearLight: resampling.usesLinearLight, hasAlpha: hasAlpha,
            isDeep: isDeep, sink: sink)
    }

    /// The same by weights, which say how many rows and columns there are of source and target.
    init(
        rows: ResamplingWeights, columns: ResamplingWeights, usesLinearLight: Bool, hasAlpha: Bool, isDeep: Bool,
        sink: any RowSink
    ) {
        target = PixelSize(width: columns.count, height: rows.count)
        self.sink = sink
        self.rows = rows
        kernel = ResamplingKernel(
            columns: columns, keptRows: rows.mostTaps, hasAlpha: hasAlpha, usesLinearLight: usesLinearLight,
            isDeep: isDeep)
        output = [UInt8](repeating: 0, count: target.width * (isDeep ? 8 : 4))
    }

    /// The maximum number of bytes such a resampler holds.
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
        let fixedPoint = FixedPointColumns.workingBytes(
            taps: columns.taps, target: target.width, source: source.width)
        return columns.bytes + rows.bytes + (rows.taps + 1) * (target.width * pixel + 8)
            + max(source.width * pixel, fixedPoint) + target.width * 8
    }

    func append(row: Span<UInt8>) {
        defer { nextSourceRow += 1 }
        guard nextTargetRow < target.height, nextSourceRow >= rows.starts[0] else { return }
        kernel.filter(row, index: nextSourceRow)
        while nextTargetRow < target.height, rows.end(of: nextTargetRow) <= nextSourceRow {
            kernel.blend(
                from: rows.starts[nextTargetRow],
                weights: rows.weights[rows.offsets[nextTargetRow]..<rows.offsets[nextTargetRow + 1]], into: &output)
            sink.append(row: output.span)
            nextTargetRow += 1
        }
    }
}
