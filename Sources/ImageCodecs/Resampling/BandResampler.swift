/// A row sink that scales an image, or a part of it, while its rows arrive, and passes on each row as soon as it is
/// complete.
///
/// Each source row is filtered horizontally first and kept until the last target row it contributes to is complete:
/// 96 bytes per source column with Lanczos, regardless of the scale. The result does not depend on how rows are
/// batched.
///
/// Colors are weighted by alpha; otherwise transparent pixels would bleed into their neighbors.
package final class BandResampler: RowSink {
    private let target: PixelSize
    private let rows: ResamplingWeights
    private let sink: any RowSink
    private var kernel: ResamplingKernel
    private var output: [UInt8]
    private var nextSourceRow = 0
    private var nextTargetRow = 0

    /// Creates a resampler from `source`, or its part `region`, to `target`; none of them empty.
    ///
    /// Every row is passed to `sink`. If `hasAlpha` is false, alpha is ignored and the result is opaque. With
    /// `is16Bit`, rows have 16 bits per channel.
    convenience init(
        from source: PixelSize, region: PixelRegion? = nil, to target: PixelSize,
        resampling: Resampling = Resampling(), hasAlpha: Bool, is16Bit: Bool = false, sink: any RowSink
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
            is16Bit: is16Bit, sink: sink)
    }

    /// Creates a resampler with the given weights, which define the numbers of source and target rows and columns.
    init(
        rows: ResamplingWeights, columns: ResamplingWeights, usesLinearLight: Bool, hasAlpha: Bool, is16Bit: Bool,
        sink: any RowSink
    ) {
        target = PixelSize(width: columns.count, height: rows.count)
        self.sink = sink
        self.rows = rows
        kernel = ResamplingKernel(
            columns: columns, keptRows: rows.maximumTaps, hasAlpha: hasAlpha, usesLinearLight: usesLinearLight,
            is16Bit: is16Bit)
        output = [UInt8](repeating: 0, count: target.width * (is16Bit ? 8 : 4))
    }

    /// Returns the maximum memory that such a resampler holds, in bytes.
    package static func workingBytes(
        from source: PixelSize, region: PixelRegion? = nil, to target: PixelSize,
        filter: Resampling.Filter = .lanczos3
    ) -> Int {
        let region = region ?? PixelRegion(whole: source)
        let columns = ResamplingWeights.cost(
            from: source.width, length: region.width, to: target.width, filter: filter)
        let rows = ResamplingWeights.cost(
            from: source.height, length: region.height, to: target.height, filter: filter)
        let pixel = 16
        let fixedPoint = FixedPointColumns.workingBytes(taps: columns.taps, target: target.width)
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
