import ImageCodecs

/// A linear change of the colors; alpha stays.
struct ColorMatrix: PixelOperation {
    let name: String
    let parameters: String
    /// A Boolean value that indicates whether the parameters are numbers from 0 to the limit.
    private let isValid: Bool
    /// The changed red, green, and blue of pure red, green, and blue.
    private let (red, green, blue): (FloatPixel, FloatPixel, FloatPixel)
    /// The color that is added to opaque pixels, with components from 0 to 255.
    private let offset: FloatPixel

    /// The maximum factor.
    private static let limit = 1_000.0

    private init(
        _ name: String, _ parameters: String, isValid: Bool = true, red: FloatPixel, green: FloatPixel,
        blue: FloatPixel, offset: FloatPixel = .zero
    ) {
        (self.name, self.parameters, self.isValid) = (name, parameters, isValid)
        (self.red, self.green, self.blue, self.offset) = (red, green, blue, offset)
    }

    /// Creates a change by which colors are multiplied by `factor`, and `offset` is added.
    private init(_ name: String, factor: Double, offset: Double = 0) {
        let diagonal = Float(factor)
        self.init(
            name, "\(factor)", isValid: 0...Self.limit ~= factor, red: FloatPixel(diagonal, 0, 0, 0),
            green: FloatPixel(0, diagonal, 0, 0), blue: FloatPixel(0, 0, diagonal, 0),
            offset: FloatPixel(repeating: Float(offset)))
    }

    static func brightness(_ factor: Double) -> ColorMatrix { ColorMatrix("brightness", factor: factor) }

    static func contrast(_ factor: Double) -> ColorMatrix {
        ColorMatrix("contrast", factor: factor, offset: 127.5 * (1 - factor))
    }

    static func saturation(_ factor: Double) -> ColorMatrix {
        let own = Float(factor)
        // The luma of BT.601, as in PixelFormat.gray8.
        let luma = SIMD3<Float>(19_595, 38_470, 7_471) / 65_536 * (1 - own)
        func column(_ gray: Float, _ channel: Int) -> FloatPixel {
            var column = FloatPixel(gray, gray, gray, 0)
            column[channel] += own
            return column
        }
        return ColorMatrix(
            "saturation", "\(factor)", isValid: 0...limit ~= factor, red: column(luma.x, 0),
            green: column(luma.y, 1), blue: column(luma.z, 2))
    }

    static func tint(_ color: PixelColor) -> ColorMatrix {
        let premultiplied = FloatPixel(color)
        let own = 1 - premultiplied.w / 255
        return ColorMatrix(
            "tint", "\(color)", red: FloatPixel(own, 0, 0, 0), green: FloatPixel(0, own, 0, 0),
            blue: FloatPixel(0, 0, own, 0), offset: premultiplied)
    }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard isValid else { throw failure("\(parameters) is not from 0 to \(Int(Self.limit))") }
        return size
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int { size.width * 16 }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        var image = image
        let (red, green, blue, offset) = (red, green, blue, offset)
        try image.changeEach { pixel in
            var changed = red * pixel.x + green * pixel.y + blue * pixel.z + offset * (pixel.w * (1 / 255))
            changed.w = pixel.w
            return changed.validated
        }
        return image
    }
}
