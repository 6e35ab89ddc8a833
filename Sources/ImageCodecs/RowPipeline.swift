/// What happens to the rows of a decoder: they are cut and scaled if need be, then turned into place.
final class RowPipeline: RowSink {
    private let canvas: OrientedCanvas
    private let first: any RowSink
    private let rowCount: Int

    /// From rows of `rowSize`, or their part `region`, to an image of `scaledSize`, turned by `orientation`.
    init(
        rowSize: PixelSize, region: PixelRegion? = nil, scaledSize: PixelSize, resampling: Resampling = Resampling(),
        orientation: ImageOrientation, hasAlpha: Bool
    ) {
        let region = region ?? PixelRegion(whole: rowSize)
        canvas = OrientedCanvas(stored: scaledSize, orientation: orientation)
        if rowSize == scaledSize {
            first = canvas
        } else if region.isCut(to: scaledSize) {
            first = RowCutter(region, scaledSize, sink: canvas)
        } else {
            first = BandResampler(
                from: rowSize, region: region, to: scaledSize, resampling: resampling, hasAlpha: hasAlpha,
                sink: canvas)
        }
        rowCount = scaledSize.height
    }

    /// The image so far.
    var pixels: PixelBuffer { canvas.pixels }
    /// How many of its stored rows are there.
    var completeRows: Int { canvas.completeRows }
    /// Whether all are.
    var isComplete: Bool { completeRows == rowCount }

    /// Brings the rows to the image that wait for others; none follow.
    func flush() { canvas.flush() }

    func append(row: Span<UInt8>) {
        first.append(row: row)
    }
}

extension PixelBuffer {
    /// The image turned by `orientation`, after its part `region` has been scaled to `size`, if that is given.
    func turned(
        _ orientation: ImageOrientation, region: PixelRegion? = nil, scaledTo size: PixelSize? = nil,
        resampling: Resampling = Resampling(), hasAlpha: Bool = true
    ) -> PixelBuffer {
        let pipeline = RowPipeline(
            rowSize: self.size, region: region, scaledSize: size ?? self.size, resampling: resampling,
            orientation: orientation, hasAlpha: hasAlpha)
        let rowBytes = width * 4
        for row in 0..<height {
            pipeline.append(row: bytes.span.extracting(row * rowBytes..<(row + 1) * rowBytes))
        }
        return pipeline.pixels
    }
}
