import Hashing
import ImageCodecs

/// Another image in front of the image.
struct Overlay: PixelOperation {
    let image: PixelBuffer
    let position: ImageTransformation.Position
    let opacity: Double
    let isTiled: Bool
    let parameters: String

    var name: String { "overlay" }

    init(_ image: PixelBuffer, position: ImageTransformation.Position, opacity: Double, isTiled: Bool) {
        (self.image, self.position, self.opacity, self.isTiled) = (image, position, opacity, isTiled)
        let digest = SHA256.hash(image.bytes).hexadecimal
        parameters =
            "\(image.size),\(image.format.rawValue),\(digest)@\(position.text),\(opacity)\(isTiled ? ",tiled" : "")"
    }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard 0...1 ~= opacity else { throw failure("the opacity \(opacity) is not from 0 to 1") }
        guard image.size.area > 0 else { throw failure("the overlay has no pixels") }
        guard isTiled || image.width <= size.width && image.height <= size.height else {
            throw failure("the overlay of \(image.size) is larger than the image of \(size)")
        }
        return size
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int { size.width * 16 + image.width * 16 }

    func apply(to target: consuming PixelBuffer) throws -> PixelBuffer {
        var target = target
        let x = ImageTransformation.Position.aligned(image.width, in: target.width, at: position.x)
        let y = ImageTransformation.Position.aligned(image.height, in: target.height, at: position.y)
        let columns = isTiled ? 0..<target.width : x..<x + image.width
        let rows = isTiled ? 0..<target.height : y..<y + image.height
        // The column of the overlay at the first column; tiles begin at the position in both directions.
        let firstColumn = Self.remainder(columns.lowerBound - x, image.width)
        var overlay = [FloatPixel](repeating: .zero, count: image.width)
        let (opacity, image) = (Float(opacity), image)
        try target.change(columns: columns, rows: rows) { pixels, row in
            let start = Self.remainder(row - y, image.height) * image.rowBytes
            image.format.read(image.bytes.span.extracting(start..<start + image.rowBytes), into: &overlay)
            var source = firstColumn
            for x in pixels.indices {
                pixels[x] = (overlay[source] * opacity).over(pixels[x])
                source += 1
                if source == overlay.count { source = 0 }
            }
        }
        return target
    }

    private static func remainder(_ value: Int, _ divisor: Int) -> Int {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
