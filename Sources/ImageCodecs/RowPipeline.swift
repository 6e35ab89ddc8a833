/// What happens to the rows of a decoder: they are made smaller if need be, then turned into place.
final class RowPipeline: RowSink {
    private let canvas: OrientedCanvas
    private let first: any RowSink
    private let rowCount: Int

    /// From rows of `rowSize` to an image of `scaledSize`, which is no larger, turned by `orientation`.
    init(rowSize: PixelSize, scaledSize: PixelSize, orientation: ImageOrientation, hasAlpha: Bool) {
        canvas = OrientedCanvas(stored: scaledSize, orientation: orientation)
        first =
            rowSize == scaledSize
            ? canvas : BandResampler(from: rowSize, to: scaledSize, hasAlpha: hasAlpha, sink: canvas)
        rowCount = scaledSize.height
    }

    /// The image so far.
    var pixels: PixelBuffer { canvas.pixels }
    /// How many of its stored rows are there.
    var completeRows: Int { canvas.completeRows }
    /// Whether all are.
    var isComplete: Bool { completeRows == rowCount }

    func append(row: Span<UInt8>) {
        first.append(row: row)
    }
}

extension PixelBuffer {
    /// The image turned by `orientation`, and made smaller to `size` (before turning) if one is given.
    func turned(_ orientation: ImageOrientation, scaledTo size: PixelSize? = nil, hasAlpha: Bool = true) -> PixelBuffer
    {
        let pipeline = RowPipeline(
            rowSize: self.size, scaledSize: size ?? self.size, orientation: orientation, hasAlpha: hasAlpha)
        let rowBytes = width * 4
        for row in 0..<height {
            pipeline.append(row: bytes.span.extracting(row * rowBytes..<(row + 1) * rowBytes))
        }
        return pipeline.pixels
    }
}
