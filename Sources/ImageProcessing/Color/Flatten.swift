import ImageCodecs

/// The image in front of a color.
struct Flatten: PixelOperation {
    let color: PixelColor

    var name: String { "flatten" }
    var parameters: String { "\(color)" }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int { size.width * 16 }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        guard image.format != .gray8, !image.isOpaque else { return image }
        var image = image
        let background = FloatPixel(color)
        try image.changeEach { $0.w == 255 ? $0 : $0.over(background) }
        return image
    }
}
