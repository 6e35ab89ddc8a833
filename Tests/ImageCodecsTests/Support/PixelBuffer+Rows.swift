import ImageTestSupport

@testable import ImageCodecs

extension PixelBuffer {
    /// Hands all rows to `sink`.
    func feed(_ sink: any RowSink) {
        let rowBytes = width * 4
        for y in 0..<height { sink.append(row: bytes.span.extracting(y * rowBytes..<(y + 1) * rowBytes)) }
    }
}
