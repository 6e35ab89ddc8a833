/// A row sink that converts rows to sRGB and passes them on.
final class ColorConverter: RowSink {
    private let transform: ColorTransform
    private let sink: any RowSink
    /// The converted row; opaque where the transform does not write alpha.
    private var converted: [UInt8]

    /// Creates a converter for rows of `width` pixels.
    init(_ transform: ColorTransform, width: Int, sink: any RowSink) {
        self.transform = transform
        self.sink = sink
        converted = [UInt8](repeating: 255, count: width * (transform.is16Bit ? 8 : 4))
    }

    var acceptsCMYK: Bool { transform.acceptsCMYK }

    func append(row: Span<UInt8>) {
        transform.convert(row, into: &converted)
        sink.append(row: converted.span)
        // Otherwise Swift 6.3 ends the borrow of `converted` before the call and reports an error.
        withExtendedLifetime(self) {}
    }
}
