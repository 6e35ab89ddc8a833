import ImageCodecs

/// Removal of the borders that have the color of the upper left pixel.
struct Trim: PixelOperation {
    let tolerance: Int

    var name: String { "trim" }
    var parameters: String { "\(tolerance)" }
    var dependsOnPixels: Bool { true }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard 0...255 ~= tolerance else { throw failure("the tolerance \(tolerance) is not from 0 to 255") }
        return size
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        outputBytes(for: size, format) + size.width * 16
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        var pixels = [FloatPixel](repeating: .zero, count: image.width)
        var (columns, rows): (Range<Int>?, Range<Int>?) = (nil, nil)
        var border: FloatPixel?
        for y in 0..<image.height {
            try checkCancellation(atRow: y)
            image.format.read(
                image.bytes.span.extracting(y * image.rowBytes..<(y + 1) * image.rowBytes), into: &pixels)
            let color = border ?? pixels[0]
            border = color
            // Only what is outside the columns found so far can extend them.
            let left = (0..<(columns?.lowerBound ?? image.width)).first { differ(pixels[$0], color) }
            let right = ((columns?.upperBound ?? 0)..<image.width).last { differ(pixels[$0], color) }
            let hasContent =
                left != nil || right != nil || columns?.contains { differ(pixels[$0], color) } == true
            guard hasContent else { continue }
            rows = (rows?.lowerBound ?? y)..<y + 1
            let first = left ?? columns?.lowerBound ?? 0
            columns = first..<max(columns?.upperBound ?? 0, (right ?? first) + 1)
        }
        // Nothing is left of an image of one color, so it is kept.
        guard let columns, let rows, columns.count < image.width || rows.count < image.height else { return image }
        return try image.part(columns: columns, rows: rows)
    }

    private func differ(_ pixel: FloatPixel, _ color: FloatPixel) -> Bool {
        let difference = pixel - color
        return max(difference.max(), -difference.min()) > Float(tolerance) + 0.01
    }
}
