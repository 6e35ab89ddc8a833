import Testing

@testable import ImageCodecs

struct DownscalePlanTests {
    struct Example: CustomTestStringConvertible {
        var stored: (Int, Int)
        var orientation = ImageOrientation.up
        var target: DecodeOptions.Target
        var scaled: (Int, Int)
        var testDescription: String { "\(stored) \(orientation) \(target)" }
    }

    static func box(_ width: Int, _ height: Int) -> DecodeOptions.Target {
        .fit(PixelSize(width: width, height: height))
    }

    @Test(arguments: [
        Example(stored: (12000, 7940), target: .maximumSide(1024), scaled: (1024, 678)),
        Example(stored: (7940, 12000), target: .maximumSide(1024), scaled: (678, 1024)),
        Example(stored: (640, 480), target: .original, scaled: (640, 480)),
        Example(stored: (640, 480), target: .maximumSide(640), scaled: (640, 480)),
        Example(stored: (640, 480), target: .maximumSide(.max), scaled: (640, 480)),
        Example(stored: (640, 480), target: .maximumSide(0), scaled: (1, 1)),
        Example(stored: (640, 480), target: .maximumSide(.min), scaled: (1, 1)),
        Example(stored: (65_535, 1), target: .maximumSide(100), scaled: (100, 1)),
        Example(stored: (65_535, 65_535), target: .maximumSide(65_534), scaled: (65_534, 65_534)),
        Example(stored: (640, 480), target: box(320, 480), scaled: (320, 240)),
        Example(stored: (640, 480), target: box(640, 120), scaled: (160, 120)),
        Example(stored: (640, 480), target: box(-5, 120), scaled: (1, 1)),
        Example(stored: (640, 480), target: box(10_000, 10_000), scaled: (640, 480)),
        Example(stored: (640, 480), orientation: .right, target: box(240, 1000), scaled: (320, 240)),
        Example(stored: (640, 480), orientation: .down, target: box(320, 1000), scaled: (320, 240)),
        Example(stored: (3, 2), target: .maximumSide(2), scaled: (2, 1)),
        Example(stored: (100, 33), target: .maximumSide(50), scaled: (50, 17)),
    ])
    func sizesFitAndKeepTheirShape(example: Example) {
        let scaled = DownscalePlan.scaledSize(
            of: PixelSize(width: example.stored.0, height: example.stored.1), orientation: example.orientation,
            target: example.target)
        #expect(scaled == PixelSize(width: example.scaled.0, height: example.scaled.1))
    }

    @Test func nothingIsEverEnlargedOrEmptied() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let stored = PixelSize(
                width: .random(in: 1...65_535, using: &random), height: .random(in: 1...65_535, using: &random))
            let limit = PixelSize(
                width: .random(in: 1...70_000, using: &random), height: .random(in: 1...70_000, using: &random))
            let scaled = DownscalePlan.scaledSize(of: stored, orientation: .up, target: .fit(limit))
            #expect((1...min(stored.width, limit.width)).contains(scaled.width))
            #expect((1...min(stored.height, limit.height)).contains(scaled.height))
        }
    }
}
