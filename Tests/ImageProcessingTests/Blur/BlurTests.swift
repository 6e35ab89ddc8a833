import Glibc
import ImageCodecs
import Testing

@testable import ImageProcessing

/// Gaussian blur and unsharp mask, against the direct calculation in double precision.
@Suite(.timeLimit(.minutes(2)))
struct BlurTests {
    @Test(arguments: [0.3, 1, 2.5, 4, 6.3])
    func blurIsTheGaussianMeanOfPremultipliedColors(sigma: Double) throws {
        for image in Samples.all where image.width < 30 {
            expect(
                try image.applying(.blur(sigma: sigma)), matches: ReferencePixels(image).blurred(sigma),
                "\(image.size) \(image.format)")
        }
    }

    /// From a standard deviation of 4, the result is calculated in two steps.
    @Test(arguments: [3.9, 8, 12.5, 30, 250])
    func strongBlurIsAsExactAsWeakBlur(sigma: Double) throws {
        let size = PixelSize(width: 71, height: 40)
        // The greatest contrast there is: an edge, and a single pixel.
        var bytes = [UInt8](repeating: 255, count: size.area * 4)
        for y in 0..<size.height {
            for x in 0..<size.width where x > 30 && (x, y) != (50, 20) {
                for channel in 0..<3 { bytes[(y * size.width + x) * 4 + channel] = 0 }
            }
        }
        let image = try #require(PixelBuffer(size: size, bytes: bytes))
        expect(try image.applying(.blur(sigma: sigma)), matches: ReferencePixels(image).blurred(sigma))
        let noise = Samples.noise(size)
        expect(try noise.applying(.blur(sigma: sigma)), matches: ReferencePixels(noise).blurred(sigma))
    }

    @Test func blurPreservesAUniformColor() throws {
        let color: [UInt8] = [200, 3, 255, 255]
        for size in Samples.sizes {
            let image = try #require(
                PixelBuffer(size: size, bytes: Array(repeatElement(color, count: size.area).joined())))
            for sigma in [0.5, 3, 9, 1000] { #expect(try image.applying(.blur(sigma: sigma)) == image) }
        }
    }

    @Test func colorsOfTransparentPixelsDoNotBleed() throws {
        // White beside transparent red.
        let size = PixelSize(width: 20, height: 1)
        let pixels = (0..<20).flatMap { $0 < 10 ? [255, 255, 255, 255] : [255, 0, 0, 0] as [UInt8] }
        let image = try #require(PixelBuffer(size: size, bytes: pixels))
        let result = try image.applying(.blur(sigma: 3))
        for x in 0..<20 where result[x, 0].alpha > 0 { #expect(result[x, 0].green == 255) }
    }

    @Test func blurOfZeroChangesNothing() throws {
        let image = Samples.noise(PixelSize(width: 5, height: 4))
        #expect(try image.applying(.blur(sigma: 0)) == image)
    }

    @Test(arguments: [10_000, -1, .nan, .infinity])
    func impossibleStandardDeviationIsRefused(sigma: Double) {
        let image = Samples.noise(PixelSize(width: 5, height: 4))
        let error = #expect(throws: CodecError.self) { try image.applying(.blur(sigma: sigma)) }
        #expect(
            error?.description
                == "the image cannot be transformed (blur): "
                + "the standard deviation \(sigma) is not from 0 to 1000 pixels")
    }

    @Test func sharpeningAddsTheDifferenceToTheBlurredImage() throws {
        for image in Samples.all {
            let blurred = ReferencePixels(image).blurred(1.5)
            let expected = ReferencePixels(image).map { pixel, x, y in
                var result = pixel + (pixel - blurred[x, y]) * 0.7
                result.clamp(lowerBound: .zero, upperBound: SIMD4(repeating: pixel.w))
                result.w = pixel.w
                return result
            }
            expect(
                try image.applying(.sharpen(sigma: 1.5, amount: 0.7)), matches: expected,
                "\(image.size) \(image.format)")
        }
    }

    @Test func impossibleAmountIsRefused() {
        let image = Samples.noise(PixelSize(width: 5, height: 4))
        #expect(throws: CodecError.transformationFailed("sharpen", "the amount -1.0 is not from 0 to 100")) {
            try image.applying(.sharpen(amount: -1))
        }
    }

    /// It consists of up to thousands of source rows.
    @Test func firstRowOfAStrongBlurEndsWithTheTask() async {
        let image = Samples.noise(PixelSize(width: 9, height: 300))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var filter = GaussianFilter(sigma: 100, size: image.size, format: image.format)
            var row = [FloatPixel](repeating: .zero, count: image.width)
            try filter.blur(0, of: image, into: &row)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func blurNeedsFarLessMemoryThanTheImage() {
        let size = PixelSize(width: 4000, height: 3000)
        for sigma in [0.5, 3.9, 8, 100, 1000] {
            #expect(ImageTransformation.blur(sigma: sigma).workingBytes(for: size) < size.area * 4 / 6, "\(sigma)")
        }
    }
}

extension ReferencePixels {
    /// Returns the image blurred with weights up to six standard deviations; edge pixels continue beyond the edges.
    func blurred(_ sigma: Double) -> ReferencePixels {
        let radius = Int((sigma * 6).rounded(.up))
        let weights = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        func blurred(_ pixel: (Int) -> SIMD4<Double>) -> SIMD4<Double> {
            var total = SIMD4<Double>.zero
            for (index, weight) in weights.enumerated() where weight > 1e-9 { total += pixel(index - radius) * weight }
            return total / sum
        }
        let horizontal = map { _, x, y in blurred { self[x + $0, y] } }
        return horizontal.map { _, x, y in blurred { horizontal[x, y + $0] } }
    }
}
