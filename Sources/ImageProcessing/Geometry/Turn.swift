import ImageCodecs

/// A rotation by right angles, or a reflection.
struct Turn: PixelOperation {
    let name: String
    let parameters: String
    /// The orientation of the image that becomes upright by the turn; `nil` for an angle that is not a right one.
    let orientation: ImageOrientation?

    /// Creates a clockwise rotation.
    init(degrees: Int) {
        name = "rotate"
        let angle = (degrees % 360 + 360) % 360
        orientation =
            switch angle {
            case 0: .up
            case 90: .right
            case 180: .down
            case 270: .left
            default: nil
            }
        parameters = "\(angle)"
    }

    /// Creates a reflection.
    init(_ axis: ImageTransformation.Axis) {
        name = "flip"
        parameters = axis.rawValue
        orientation = axis == .horizontal ? .upMirrored : .downMirrored
    }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard let orientation else { throw failure("\(parameters)° is not a multiple of 90°") }
        return size.upright(orientation)
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        // One row with 8 bits per channel, one in the format, and a strip of rows that become columns.
        outputBytes(for: size, format) + size.width * (4 + 17 * format.bytesPerPixel)
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        guard let orientation, orientation != .up else { return image }
        return try image.turned(orientation) { () throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
        }
    }
}
