/// Hands on rows in sRGB.
final class ColorConverter: RowSink {
    private let transform: ColorTransform
    private let sink: any RowSink
    /// Opaque where the transform leaves alpha as it is.
    private var converted: [UInt8]

    /// For rows of `width` pixels.
    init(_ transform: ColorTransform, width: Int, sink: any RowSink) {
        self.transform = transform
        self.sink = sink
        converted = [UInt8](repeating: 255, count: width * (transform.isDeep ? 8 : 4))
    }

    var takesInks: Bool { transform.takesInks }

    func append(row: Span<UInt8>) {
        transform.convert(row, into: &converted)
        sink.append(row: converted.span)
        withExtendedLifetime(self) {}  // or Swift 6.3 ends the loan of `converted` before the call, and complains
    }
}
