import ImageCodecs

/// A Gaussian blur, or the opposite: an unsharp mask.
struct Blur: PixelOperation {
    /// The standard deviation in pixels.
    let sigma: Double
    /// The part of the difference to the blurred image that is added to the image; `nil` for the blurred image.
    let sharpening: Double?

    /// The maximum standard deviation in pixels.
    static let maximumSigma = 1_000.0
    /// The maximum amount of sharpening.
    private static let maximumAmount = 100.0
    /// The standard deviation below which no weight but that of the pixel itself matters.
    private static let least = 0.2

    var name: String { sharpening == nil ? "blur" : "sharpen" }
    var parameters: String { sharpening.map { "\(sigma),\($0)" } ?? "\(sigma)" }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard 0...Self.maximumSigma ~= sigma else {
            throw failure("the standard deviation \(sigma) is not from 0 to \(Int(Self.maximumSigma)) pixels")
        }
        guard 0...Self.maximumAmount ~= sharpening ?? 0 else {
            throw failure("the amount \(sharpening ?? 0) is not from 0 to \(Int(Self.maximumAmount))")
        }
        return size
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        GaussianKernel.workingBytes(sigma: sigma, size) + size.width * 32
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        guard sigma >= Self.least else { return image }
        var image = image
        let format = image.format
        var filter = GaussianFilter(sigma: sigma, size: image.size, format: format)
        let storedFormat = filter.storedFormat
        var blurred = [FloatPixel](repeating: .zero, count: image.width)
        var sharp = sharpening == nil ? [] : blurred
        let (isPremultiplied, isFourBytes) = (
            format == .rgba8Premultiplied || format == .bgra8Premultiplied, format.bytesPerPixel == 4
        )
        for row in 0..<image.height {
            try checkCancellation(atRow: row)
            let range = row * image.rowBytes..<(row + 1) * image.rowBytes
            try filter.blur(row, of: image, into: &blurred)
            if let sharpening {
                storedFormat.read(image.bytes.span.extracting(range), into: &sharp)
                let amount = Float(sharpening)
                for x in blurred.indices {
                    var pixel = sharp[x] + (sharp[x] - blurred[x]) * amount
                    pixel.w = sharp[x].w
                    blurred[x] = pixel.validated
                }
            }
            var bytes = image.bytes.mutableSpan
            if isFourBytes, isPremultiplied || filter.isOpaque {
                blurred.round(into: &bytes, at: range.lowerBound)
            } else {
                storedFormat.write(blurred, into: &bytes, at: range.lowerBound)
            }
        }
        return image
    }
}
