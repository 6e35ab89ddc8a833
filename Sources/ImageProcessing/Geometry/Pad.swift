import ImageCodecs

/// Margins around an image.
struct Pad: PixelOperation {
    enum Extent: Sendable {
        case margins(left: Int, top: Int, right: Int, bottom: Int)
        case canvas(PixelSize, ImageTransformation.Position)
    }

    let extent: Extent
    let color: PixelColor

    var name: String { "pad" }

    var parameters: String {
        switch extent {
        case .margins(let left, let top, let right, let bottom): "\(left),\(top),\(right),\(bottom),\(color)"
        case .canvas(let size, let position): "\(size)@\(position.text),\(color)"
        }
    }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        switch extent {
        case .margins(let left, let top, let right, let bottom):
            for margin in [left, top, right, bottom] {
                guard 0...ImageTransformation.longestSide ~= margin else {
                    throw failure("a margin of \(margin) pixels is negative or too large")
                }
            }
            return PixelSize(width: left + size.width + right, height: top + size.height + bottom)
        case .canvas(let canvas, _):
            return PixelSize(width: max(size.width, canvas.width), height: max(size.height, canvas.height))
        }
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        // A row of the margin in both forms.
        let width = (try? outputSize(for: size))?.width ?? 0
        return outputBytes(for: size, format).saturatingSum(width * (16 + format.bytesPerPixel))
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        let size = try outputSize(for: image.size)
        guard size != image.size else { return image }
        let (left, top): (Int, Int)
        switch extent {
        case .margins(let x, let y, _, _): (left, top) = (x, y)
        case .canvas(_, let position):
            left = ImageTransformation.Position.aligned(image.width, in: size.width, at: position.x)
            top = ImageTransformation.Position.aligned(image.height, in: size.height, at: position.y)
        }
        let format = image.format
        var margin = [UInt8](repeating: 0, count: size.width * format.bytesPerPixel)
        var span = margin.mutableSpan
        format.write([FloatPixel](repeating: FloatPixel(color), count: size.width), into: &span, at: 0)
        let leftBytes = left * format.bytesPerPixel
        var result = PixelBuffer(withoutRows: size, format: format)
        result.bytes.reserveCapacity(size.area * format.bytesPerPixel)
        for y in 0..<size.height {
            try checkCancellation(atRow: y)
            let row = y - top
            guard 0..<image.height ~= row else {
                result.bytes.append(margin.span)
                continue
            }
            result.bytes.append(margin.span.extracting(0..<leftBytes))
            result.bytes.append(image.bytes.span.extracting(row * image.rowBytes..<(row + 1) * image.rowBytes))
            result.bytes.append(margin.span.extracting(leftBytes + image.rowBytes..<margin.count))
        }
        return result
    }
}
