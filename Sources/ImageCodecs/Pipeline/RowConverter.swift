/// A row sink that converts rows of straight RGBA to another format; 16-bit rows are passed through if that is the
/// format.
final class RowConverter: RowSink {
    private let format: PixelFormat
    private var output: [UInt8]
    private let sink: any RowSink

    /// Creates a converter for rows of `width` pixels.
    init(to format: PixelFormat, width: Int, sink: any RowSink) {
        self.format = format
        self.sink = sink
        output = [UInt8](repeating: 0, count: width * format.bytesPerPixel)
    }

    func append(row: Span<UInt8>) {
        if format == .rgba16, row.count == output.count { return sink.append(row: row) }
        precondition(row.count / 4 * format.bytesPerPixel == output.count)
        format.store(row, into: &output)
        let stored = output
        sink.append(row: stored.span)
    }
}
