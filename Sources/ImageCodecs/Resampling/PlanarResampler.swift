import CResampling

/// A plane sink that scales an image, or a part of it, while its rows arrive, and passes on each row of pixels as soon
/// as it is complete.
///
/// The planes are scaled separately, each from its own resolution to that of the result, and only the result is
/// converted to RGB: half the samples to filter, and no conversion of pixels that the filter combines.
final class PlanarResampler: PlaneSink {
    /// The weights of the rows and columns of a plane for each target row and column.
    private struct Plane {
        let rows: ResamplingWeights
        let columns: ResamplingWeights

        /// Creates weights for the part `region` of a plane of `size`.
        init(_ size: PixelSize, region: PixelRegion, to target: PixelSize, filter: Resampling.Filter) {
            rows = ResamplingWeights(
                from: size.height, start: region.top, length: region.height, to: target.height, filter: filter)
            columns = ResamplingWeights(
                from: size.width, start: region.left, length: region.width, to: target.width, filter: filter)
        }

        func weights(of row: Int) -> ArraySlice<Float> { rows.weights[rows.offsets[row]..<rows.offsets[row + 1]] }
    }

    private let target: PixelSize
    private let luma: Plane
    private let chroma: Plane
    /// The last row of luma that must have been received before each target row is blended.
    private let lastRows: [Int]
    private let lumaKernel: PlaneKernel
    private let blueKernel: PlaneKernel
    private let redKernel: PlaneKernel
    private let sink: any RowSink
    private var output: [UInt8]
    private var (nextLumaRow, nextChromaRow, nextTargetRow) = (0, 0, 0)

    /// Creates a resampler from `region` of an image of size `source` to `target`, none of them empty.
    ///
    /// Every row is passed to `sink`.
    init(
        from source: PixelSize, region: PixelRegion, to target: PixelSize, filter: Resampling.Filter, sink: any RowSink
    ) {
        self.target = target
        self.sink = sink
        luma = Plane(source, region: region, to: target, filter: filter)
        chroma = Plane(Self.chromaSize(of: source), region: region.scaled(by: 0.5), to: target, filter: filter)
        let (lumaRows, chromaRows) = (luma.rows, chroma.rows)
        let lastRows = (0..<target.height).map { row in
            // A row of chroma arrives before its two rows of luma.
            min(max(lumaRows.end(of: row), chromaRows.end(of: row) * 2), source.height - 1)
        }
        self.lastRows = lastRows
        func keptRows(_ rows: ResamplingWeights, per step: Int) -> Int {
            (0..<target.height).reduce(1) { max($0, lastRows[$1] / step - rows.starts[$1] + 1) }
        }
        lumaKernel = PlaneKernel(columns: luma.columns, keptRows: keptRows(lumaRows, per: 1))
        blueKernel = PlaneKernel(columns: chroma.columns, keptRows: keptRows(chromaRows, per: 2))
        redKernel = PlaneKernel(columns: chroma.columns, keptRows: keptRows(chromaRows, per: 2))
        output = [UInt8](repeating: 0, count: target.width * 4)
    }

    /// Returns the maximum memory that such a resampler holds, in bytes.
    static func workingBytes(
        from source: PixelSize, region: PixelRegion, to target: PixelSize, filter: Resampling.Filter
    ) -> Int {
        func plane(_ size: PixelSize, _ region: PixelRegion, step: Int, kernels: Int) -> Int {
            let columns = ResamplingWeights.cost(
                from: size.width, length: region.width, to: target.width, filter: filter)
            let rows = ResamplingWeights.cost(
                from: size.height, length: region.height, to: target.height, filter: filter)
            // Rows are kept until those of the other planes have arrived, up to two rows of chroma later.
            let keptRows = min(rows.taps + 4 / step + 1, size.height)
            return columns.bytes + rows.bytes
                + kernels * PlaneKernel.workingBytes(taps: columns.taps, target: target.width, keptRows: keptRows)
        }
        return plane(source, region, step: 1, kernels: 1)
            + plane(chromaSize(of: source), region.scaled(by: 0.5), step: 2, kernels: 2)
            + target.height * 8 + target.width * 4
    }

    /// Returns the size of the planes of chroma of an image.
    static func chromaSize(of size: PixelSize) -> PixelSize {
        PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
    }

    func append(blueRow: Span<UInt8>, redRow: Span<UInt8>) {
        if nextTargetRow < target.height, nextChromaRow >= chroma.rows.starts[nextTargetRow] {
            blueKernel.filter(blueRow, index: nextChromaRow)
            redKernel.filter(redRow, index: nextChromaRow)
        }
        nextChromaRow += 1
    }

    func append(lumaRow: Span<UInt8>) {
        defer { nextLumaRow += 1 }
        guard nextTargetRow < target.height else { return }
        if nextLumaRow >= luma.rows.starts[nextTargetRow] { lumaKernel.filter(lumaRow, index: nextLumaRow) }
        while nextTargetRow < target.height, lastRows[nextTargetRow] <= nextLumaRow {
            blend(nextTargetRow)
            sink.append(row: output.span)
            nextTargetRow += 1
        }
    }

    private func blend(_ row: Int) {
        let (lumaStart, chromaStart) = (luma.rows.starts[row], chroma.rows.starts[row])
        let (lumaWeights, chromaWeights) = (luma.weights(of: row), chroma.weights(of: row))
        var planes = unsafe CResamplingPlanes(
            luma: lumaKernel.blend(from: lumaStart, weights: lumaWeights),
            blue: blueKernel.blend(from: chromaStart, weights: chromaWeights),
            red: redKernel.blend(from: chromaStart, weights: chromaWeights), count: Int32(target.width))
        unsafe output.withUnsafeMutableBufferPointer { output in
            // It has four bytes per target column.
            if let pixels = output.baseAddress { unsafe cresampling_join_planes(&planes, pixels) }
        }
    }
}
