import ImageCodecs
import ImageProcessing
import Testing

/// Changes of colors, against their formulas in double precision.
struct ColorTests {
    /// Expects each straight color, 0 to 255, to change as `change` says.
    private func expectColors(
        _ transformation: ImageTransformation, change: (SIMD3<Double>) -> SIMD3<Double>
    ) throws {
        for image in Samples.all {
            let expected = ReferencePixels(image).map { pixel, _, _ in
                guard pixel.w > 0 else { return .zero }
                let straight = SIMD3(pixel.x, pixel.y, pixel.z) * 255 / pixel.w
                let changed = change(straight).clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                return SIMD4(changed * pixel.w / 255, pixel.w)
            }
            expect(try image.applying(transformation), matches: expected, "\(image.size) \(image.format)")
        }
    }

    private func luma(_ color: SIMD3<Double>) -> Double {
        (19_595 * color.x + 38_470 * color.y + 7_471 * color.z) / 65_536
    }

    @Test(arguments: [0, 0.4, 1, 1.7, 1000])
    func brightnessMultiplies(factor: Double) throws {
        try expectColors(.brightness(factor)) { $0 * factor }
    }

    @Test(arguments: [0, 0.4, 1, 1.7])
    func contrastMovesAwayFromGray(factor: Double) throws {
        try expectColors(.contrast(factor)) { ($0 - 127.5) * factor + 127.5 }
    }

    @Test(arguments: [0, 0.4, 1, 1.7])
    func saturationMovesAwayFromLuma(factor: Double) throws {
        try expectColors(.saturation(factor)) { SIMD3(repeating: luma($0) * (1 - factor)) + $0 * factor }
    }

    @Test func grayscaleIsLuma() throws {
        try expectColors(.grayscale) { SIMD3(repeating: luma($0)) }
    }

    @Test(arguments: [0, 80, 255])
    func tintIsMixedByItsAlpha(alpha: UInt8) throws {
        let part = Double(alpha) / 255
        try expectColors(.tint(PixelColor(red: 200, green: 10, blue: 90, alpha: alpha))) {
            $0 * (1 - part) + SIMD3(200, 10, 90) * part
        }
    }

    @Test(arguments: [-0.1, 1_001, .nan, .infinity])
    func impossibleFactorIsRefused(factor: Double) {
        let image = Samples.noise(PixelSize(width: 2, height: 2))
        for transformation in [ImageTransformation.brightness(factor), .contrast(factor), .saturation(factor)] {
            #expect(throws: CodecError.self) { try image.applying(transformation) }
        }
    }

    @Test(arguments: [255, 128, 0])
    func flatteningPutsTheImageInFrontOfTheColor(alpha: UInt8) throws {
        let color = PixelColor(red: 200, green: 10, blue: 90, alpha: alpha)
        let (red, green, blue, opacity) = (200.0, 10.0, 90.0, Double(alpha))
        let background = SIMD4(red * opacity / 255, green * opacity / 255, blue * opacity / 255, opacity)
        for image in Samples.all where image.format != .gray8 {
            let expected = ReferencePixels(image).map { pixel, _, _ in pixel + background * (1 - pixel.w / 255) }
            let result = try image.applying(.flatten(onto: color))
            expect(result, matches: expected, "\(image.size) \(image.format)")
            #expect(alpha < 255 || result.isOpaque)
        }
    }
}
