/// Hands on rows of 16 bits a channel: those that come with 8 are widened, from 255 to 65,535.
final class RowWidener: RowSink {
    private let width: Int
    private let sink: any RowSink
    private var wide: [UInt8]

    /// For rows of `width` pixels.
    init(width: Int, sink: any RowSink) {
        self.width = width
        self.sink = sink
        wide = [UInt8](repeating: 0, count: width * PixelFormat.rgba16.bytesPerPixel)
    }

    var takesDeepRows: Bool { true }

    func append(row: Span<UInt8>) {
        guard row.count == width * PixelFormat.rgba8.bytesPerPixel else { return sink.append(row: row) }
        PixelFormat.rgba16.store(row, into: &wide)
        let stored = wide
        sink.append(row: stored.span)
    }
}
