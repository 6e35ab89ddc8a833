import ImageCodecs

/// The part of an image in a rectangle of fixed size and position.
struct RectangleCrop: PixelOperation {
    let x: Int
    let y: Int
    let size: PixelSize

    var name: String { "crop" }
    var parameters: String { "\(size)+\(x)+\(y)" }

    func outputSize(for image: PixelSize) throws(CodecError) -> PixelSize {
        guard size.width > 0, size.height > 0 else { throw failure("the rectangle of \(size) pixels is empty") }
        // Without sums, which could overflow.
        guard x >= 0, y >= 0, size.width <= image.width, size.height <= image.height, x <= image.width - size.width,
            y <= image.height - size.height
        else {
            throw failure("the rectangle of \(size) pixels at (\(x), \(y)) is not inside the image of \(image)")
        }
        return size
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int { outputBytes(for: size, format) }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        guard size != image.size else { return image }
        return try image.part(columns: x..<x + size.width, rows: y..<y + size.height)
    }
}

/// The largest part of an image with an aspect ratio.
struct ShapeCrop: PixelOperation {
    /// The rule for the position of the part.
    enum Focus: Sendable {
        /// The center of the part is as near to this position as possible.
        case position(ImageTransformation.Position)
        /// The part with the most details and saturated colors.
        case details
    }

    /// The width of the shape in relation to `height`.
    let width: Int
    let height: Int
    let focus: Focus

    var name: String { dependsOnPixels ? "smartCrop" : "crop" }

    var parameters: String {
        switch focus {
        case .position(let position): "\(width):\(height)@\(position.text)"
        case .details: "\(width):\(height)"
        }
    }

    var dependsOnPixels: Bool {
        if case .details = focus { true } else { false }
    }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard 1...ImageTransformation.longestSide ~= width, 1...ImageTransformation.longestSide ~= height else {
            throw failure("the aspect ratio \(width):\(height) is not positive, or its numbers are too large")
        }
        let (left, right) = (size.width * height, size.height * width)
        return left <= right
            ? PixelSize(width: size.width, height: max(1, (left * 2 + width) / (width * 2)))
            : PixelSize(width: max(1, (right * 2 + height) / (height * 2)), height: size.height)
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        outputBytes(for: size, format) + (dependsOnPixels ? DetailMap.workingBytes(for: size) : 0)
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        let size = try outputSize(for: image.size)
        guard size != image.size else { return image }
        let (x, y): (Int, Int)
        switch focus {
        case .position(let position):
            x = ImageTransformation.Position.centered(size.width, in: image.width, at: position.x)
            y = ImageTransformation.Position.centered(size.height, in: image.height, at: position.y)
        case .details: (x, y) = try DetailMap(image).bestPlace(of: size)
        }
        return try image.part(columns: x..<x + size.width, rows: y..<y + size.height)
    }
}
