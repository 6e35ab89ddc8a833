import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct PixelFormatTests {
    static let others = PixelFormat.allCases.filter { $0 != .rgba8 }

    /// Returns a pixel stored in `format` according to its documentation, computed in floating point.
    private func stored(_ pixel: [UInt8], _ format: PixelFormat) -> [UInt8] {
        let alpha = Double(pixel[3]) / 255
        func times(_ color: UInt8) -> UInt8 { UInt8((Double(color) * alpha).rounded()) }
        let (red, green, blue) = (pixel[0], pixel[1], pixel[2])
        switch format {
        case .rgba8: return pixel
        case .rgba8Premultiplied: return [times(red), times(green), times(blue), pixel[3]]
        case .bgra8: return [blue, green, red, pixel[3]]
        case .bgra8Premultiplied: return [times(blue), times(green), times(red), pixel[3]]
        case .gray8:
            let sum = 19_595 * Double(red) + 38_470 * Double(green) + 7_471 * Double(blue)
            let lightness = (sum / 65_536).rounded()
            return [UInt8((lightness * alpha + 255 * (1 - alpha)).rounded())]
        case .rgba16: return pixel.flatMap { [$0, $0] }
        }
    }

    /// Returns whether `image` equals `plain` converted to its format.
    ///
    /// Only the upper 8 of 16 bits are compared: scaled pixels differ in the others.
    private func isStored(_ image: PixelBuffer, _ plain: PixelBuffer) -> Bool {
        let expected = stored(plain, image.format)
        guard image.format == .rgba16, image.bytes.count == expected.count else { return image.bytes == expected }
        let (samples, others) = (image.bytes.span, expected.span)
        return stride(from: 0, to: expected.count, by: 2).allSatisfy { offset in
            let isTransparent = others[offset / 8 * 8 + 6] == 0
            return isTransparent || abs(Int(samples.sample(at: offset)) - Int(others.sample(at: offset))) < 160
        }
    }

    private func stored(_ image: PixelBuffer, _ format: PixelFormat) -> [UInt8] {
        stride(from: 0, to: image.bytes.count, by: 4).flatMap { stored(Array(image.bytes[$0..<$0 + 4]), format) }
    }

    @Test(arguments: PixelFormat.allCases)
    func everyPixelValueIsConvertedByTheFormula(format: PixelFormat) throws {
        // Every value of red with every alpha; green and blue depend on red.
        var image = PixelBuffer(transparent: PixelSize(width: 256, height: 256))
        for alpha in 0..<256 {
            for color in 0..<256 {
                let offset = (alpha * 256 + color) * 4
                image.bytes[offset] = UInt8(color)
                image.bytes[offset + 1] = UInt8(255 - color)
                image.bytes[offset + 2] = UInt8(color * 7 & 255)
                image.bytes[offset + 3] = UInt8(alpha)
            }
        }
        let converted = image.converted(to: format)
        #expect(converted.format == format)
        #expect(converted.bytes == stored(image, format))
        #expect(converted.rowBytes == 256 * format.bytesPerPixel)
        // A round trip does not change the pixels.
        #expect(converted.converted(to: .rgba8).converted(to: format) == converted)
        if format == .bgra8 { #expect(converted.converted(to: .rgba8) == image) }
    }

    @Test(arguments: others, [ImageFormat.jpeg, .png, .webp, .gif])
    func imagesAreDecodedIntoTheRequestedPixelFormat(format: PixelFormat, file: ImageFormat) throws {
        let bytes = try TestImages.photo(width: 45, height: 37, hasAlpha: file != .jpeg).encoded(as: file)
        for target in [DecodeOptions.Target.original, .maximumSide(20), .fill(PixelSize(width: 11, height: 13))] {
            let plain = try decode(bytes, options: DecodeOptions(target: target)).pixels
            let image = try decode(bytes, options: DecodeOptions(target: target, pixelFormat: format)).pixels
            #expect(image.size == plain.size)
            #expect(image.format == format)
            #expect(isStored(image, plain))
        }
    }

    @Test(arguments: PixelFormat.allCases, ImageOrientation.allCases)
    func pixelFormatConversionCommutesWithRotation(format: PixelFormat, orientation: ImageOrientation) {
        let image = TestImage.noise(35, 21, seed: 8, isOpaque: false)
        let expected = image.turned(orientation).converted(to: format)
        #expect(image.turned(orientation, format: format) == expected)
        #expect(image.converted(to: format).turned(orientation) == expected)
    }

    @Test(arguments: others)
    func lateOrientationAppliesToEveryPixelFormat(format: PixelFormat) throws {
        let pixels = try TestImages.photo(width: 30, height: 20, hasAlpha: true)
        for file in [ImageFormat.png, .webp] {
            var bytes = try pixels.encoded(
                with: try EncodeOptions(file), metadata: ImageMetadata(exif: TestExif.bytes(orientation: 6)))
            if file == .png { bytes = movingExifBehindThePixels(of: bytes) }
            let plain = try decode(bytes).pixels
            #expect(plain.size == PixelSize(width: 20, height: 30))
            let turned = try decode(bytes, options: DecodeOptions(pixelFormat: format)).pixels
            #expect(turned.bytes == stored(plain, format))
        }
    }

    private func movingExifBehindThePixels(of file: [UInt8]) -> [UInt8] {
        let exif = [UInt8](TestPNG.chunk("eXIf", TestExif.bytes(orientation: 6)))
        // Behind the signature and IHDR; in front of IEND.
        return Array(file[..<33]) + file[(33 + exif.count)..<(file.count - 12)] + exif + file[(file.count - 12)...]
    }

    @Test(arguments: others)
    func previewsHaveTheRequestedPixelFormat(format: PixelFormat) throws {
        let file = try TestImage.photo(64, 48).encoded(as: .png)
        let decoder = StreamingDecoder(options: DecodeOptions(pixelFormat: format))
        try append(file, 0..<file.count - 200, to: decoder)
        try decoder.begin()
        for side in [Int.max, 20] {
            let preview = try decoder.preview(maximumSide: side).unwrapped()
            #expect(preview.pixels.format == format)
            #expect(max(preview.pixels.width, preview.pixels.height) == min(side, 64))
        }
    }

    @Test(arguments: others, [ImageFormat.gif, .png, .webp])
    func animationFramesHaveTheRequestedPixelFormat(format: PixelFormat, file: ImageFormat) throws {
        let encoder = try AnimationEncoder(format: file, size: PixelSize(width: 24, height: 16))
        for frame in try TestImages.wanderingSquare(3, hasAlpha: true) {
            try encoder.append(frame, delay: .milliseconds(100))
        }
        let bytes = try encoder.finish()
        for target in [DecodeOptions.Target.original, .maximumSide(12)] {
            let plain = try AnimatedImage(bytes, options: DecodeOptions(target: target)).allFrames()
            let options = DecodeOptions(target: target, pixelFormat: format)
            let frames = try AnimatedImage(bytes, options: options).allFrames()
            #expect(frames.count == plain.count)
            for (frame, plain) in zip(frames, plain) { #expect(isStored(frame, plain)) }
        }
    }

    @Test(arguments: others)
    func encodedImageHasTheColorsOfThePixels(format: PixelFormat) throws {
        let image = TestImage.noise(20, 10, seed: 2, isOpaque: true).converted(to: format)
        #expect(try decode(image.encoded(as: .png)).pixels == image.converted(to: .rgba8))
        #expect(image.isOpaque)
    }

    @Test func memoryEstimateDependsOnThePixelFormat() throws {
        let file = try TestImage.photo(600, 400).encoded(as: .jpeg)
        func plan(_ options: DecodeOptions) throws -> DecodePlan {
            let decoder = StreamingDecoder(options: options)
            try append(file, to: decoder)
            return try decoder.plan.unwrapped()
        }
        let (color, gray) = (try plan(DecodeOptions()), try plan(DecodeOptions(pixelFormat: .gray8)))
        #expect(color.estimatedBytes - gray.estimatedBytes == 600 * 400 * 3 - 600)
        let limit = DecodeOptions.Target.maximumBytes(60_000)
        #expect(try plan(DecodeOptions(target: limit)).outputSize == PixelSize(width: 150, height: 100))
        let small = try plan(DecodeOptions(target: limit, pixelFormat: .gray8))
        #expect(small.outputSize == PixelSize(width: 300, height: 200))
    }

    @Test func pixelBufferRequiresTheBytesOfItsFormat() {
        let size = PixelSize(width: 3, height: 2)
        #expect(PixelBuffer(size: size, bytes: [UInt8](repeating: 7, count: 6), format: .gray8)?[2, 1].green == 7)
        #expect(PixelBuffer(size: size, bytes: [UInt8](repeating: 7, count: 24), format: .gray8) == nil)
        #expect(PixelBuffer(size: size, bytes: [UInt8](repeating: 7, count: 6), format: .bgra8) == nil)
        let one = PixelSize(width: 1, height: 1)
        let pixel = PixelBuffer(size: one, bytes: [10, 20, 30, 51], format: .bgra8Premultiplied)
        #expect(pixel.map { $0[0, 0] == (150, 100, 50, 51) } == true)
    }
}
