/// A row sink that passes on the unchanged pixels of a rectangle.
final class RowCutter: RowSink {
    private let bytes: Range<Int>
    private var rowsAbove: Int
    private var rowsLeft: Int
    private let sink: any RowSink

    /// Creates a cutter; `region` is inside the rows, begins at a whole pixel, and has the given size.
    init(_ region: PixelRegion, _ size: PixelSize, bytesPerPixel: Int = 4, sink: any RowSink) {
        let left = Int(region.left) * bytesPerPixel
        bytes = left..<left + size.width * bytesPerPixel
        rowsAbove = Int(region.top)
        rowsLeft = size.height
        self.sink = sink
    }

    func append(row: Span<UInt8>) {
        guard rowsAbove == 0 else { return rowsAbove -= 1 }
        guard rowsLeft > 0 else { return }
        rowsLeft -= 1
        sink.append(row: row.extracting(bytes))
    }
}
