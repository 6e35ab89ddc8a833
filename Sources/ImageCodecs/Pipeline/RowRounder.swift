/// A row sink that rounds rows with 16 bits per channel to 8.
final class RowRounder: RowSink {
    private var output: [UInt8]
    private let sink: any RowSink

    /// Creates a rounder for rows of `width` pixels.
    init(width: Int, sink: any RowSink) {
        self.sink = sink
        output = [UInt8](repeating: 0, count: width * 4)
    }

    func append(row: Span<UInt8>) {
        precondition(row.count == output.count * 2)
        var samples = output.mutableSpan
        for index in samples.indices { samples[index] = row.sample(at: index * 2).roundedToByte }
        let rounded = output
        sink.append(row: rounded.span)
    }
}

extension UInt16 {
    /// The nearest sample of 8 bits.
    var roundedToByte: UInt8 { UInt8((Int(self) * 255 + 32_767) / 65_535) }
}
