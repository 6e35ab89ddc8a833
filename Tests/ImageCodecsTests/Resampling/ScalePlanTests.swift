import ImageTestSupport
import Testing

@testable import ImageCodecs

struct ScalePlanTests {
    struct Example: CustomTestStringConvertible {
        var stored: (Int, Int)
        var orientation = ImageOrientation.up
        var target: DecodeOptions.Target
        var enlarges = false
        var scaled: (Int, Int)
        /// The shown part of the original: left, top, width, height; `nil` for all of it.
        var shown: [Double]?
        var testDescription: String { "\(stored) \(orientation) \(target)\(enlarges ? " enlarged" : "")" }
    }

    static func fill(_ width: Int, _ height: Int) -> DecodeOptions.Target {
        .fill(PixelSize(width: width, height: height))
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
    func scaledSizesFitAndKeepTheAspectRatio(example: Example) { check(example) }

    @Test(arguments: [
        Example(stored: (640, 480), target: fill(240, 240), scaled: (240, 240), shown: [80, 0, 480, 480]),
        Example(stored: (640, 480), target: fill(320, 120), scaled: (320, 120), shown: [0, 120, 640, 240]),
        Example(stored: (640, 480), target: fill(320, 240), scaled: (320, 240)),
        Example(stored: (640, 480), target: fill(640, 480), scaled: (640, 480)),
        // The image is too small in one or both directions: its largest part of that shape is used, unscaled and in
        // whole pixels.
        Example(stored: (640, 480), target: fill(480, 480), scaled: (480, 480), shown: [80, 0, 480, 480]),
        Example(stored: (641, 480), target: fill(480, 480), scaled: (480, 480), shown: [80, 0, 480, 480]),
        Example(stored: (640, 480), target: fill(600, 600), scaled: (480, 480), shown: [80, 0, 480, 480]),
        Example(stored: (640, 480), target: fill(2000, 1000), scaled: (640, 320), shown: [0, 80, 640, 320]),
        Example(stored: (640, 480), target: fill(.max, 1), scaled: (640, 1), shown: [0, 239, 640, 1]),
        Example(stored: (640, 480), target: fill(-1, 0), scaled: (1, 1), shown: [80, 0, 480, 480]),
        Example(
            stored: (640, 480), orientation: .left, target: fill(100, 400), scaled: (400, 100),
            shown: [0, 160, 640, 160]),
        Example(
            stored: (100, 50), target: fill(200, 200), enlarges: true, scaled: (200, 200), shown: [25, 0, 50, 50]),
    ])
    func fillCropsOverlap(example: Example) { check(example) }

    @Test(arguments: [
        Example(stored: (64, 48), target: .maximumSide(640), enlarges: true, scaled: (640, 480)),
        Example(stored: (64, 48), target: box(1000, 96), enlarges: true, scaled: (128, 96)),
        Example(stored: (640, 480), target: box(64, 96), enlarges: true, scaled: (64, 48)),
        Example(stored: (64, 48), target: .original, enlarges: true, scaled: (64, 48)),
        Example(stored: (64, 48), target: .maximumBytes(), enlarges: true, scaled: (64, 48)),
        Example(stored: (2, 1), target: .maximumSide(.max), enlarges: true, scaled: (1 << 24, 1 << 23)),
    ])
    func imagesAreEnlargedOnlyWithAllowsEnlarging(example: Example) { check(example) }

    @Test(arguments: [
        Example(stored: (640, 480), target: .shorterSide(240), scaled: (320, 240)),
        Example(stored: (480, 640), target: .shorterSide(240), scaled: (240, 320)),
        Example(stored: (640, 480), orientation: .right, target: .shorterSide(240), scaled: (320, 240)),
        Example(stored: (640, 480), target: .shorterSide(480), scaled: (640, 480)),
        Example(stored: (640, 480), target: .shorterSide(500), scaled: (640, 480)),
        Example(stored: (64, 48), target: .shorterSide(480), enlarges: true, scaled: (640, 480)),
        Example(stored: (640, 480), target: .shorterSide(0), scaled: (1, 1)),
        Example(stored: (65_535, 3), target: .shorterSide(2), scaled: (43_690, 2)),
        Example(stored: (1 << 31, 1), target: .shorterSide(.max), enlarges: true, scaled: (1 << 40, 1 << 24)),
    ])
    func shorterSideDeterminesTheScale(example: Example) { check(example) }

    @Test(arguments: [
        // 60 MiB are 15,728,640 pixels: at 3 to 2, 4857 by 3238.
        Example(stored: (12_000, 8_000), target: .maximumBytes(), scaled: (4857, 3238)),
        Example(stored: (8_000, 6_000), target: .maximumBytes(), scaled: (4579, 3434)),
        Example(stored: (6_000, 4_000), target: .maximumBytes(), scaled: (4857, 3238)),
        Example(stored: (4_000, 3_000), target: .maximumBytes(), scaled: (4_000, 3_000)),
        Example(stored: (100, 100), target: .maximumBytes(40_000), scaled: (100, 100)),
        Example(stored: (100, 100), target: .maximumBytes(39_999), scaled: (99, 99)),
        Example(stored: (65_535, 1), target: .maximumBytes(400), scaled: (100, 1)),
        Example(stored: (1, 65_535), target: .maximumBytes(400), scaled: (1, 100)),
        Example(stored: (640, 480), target: .maximumBytes(0), scaled: (1, 1)),
        Example(stored: (640, 480), target: .maximumBytes(.min), scaled: (1, 1)),
        Example(stored: (640, 480), target: .maximumBytes(.max), scaled: (640, 480)),
    ])
    func maximumBytesLimitsTheScaledSize(example: Example) {
        check(example)
        guard case .maximumBytes(let limit) = example.target, limit > 4 else { return }
        #expect(example.scaled.0 * example.scaled.1 * 4 <= limit)
    }

    private func check(_ example: Example) {
        let stored = PixelSize(width: example.stored.0, height: example.stored.1)
        let plan = ScalePlan(
            of: stored, orientation: example.orientation,
            options: DecodeOptions(target: example.target, allowsUpscaling: example.enlarges))
        #expect(plan.scaledSize == PixelSize(width: example.scaled.0, height: example.scaled.1))
        let region = plan.region
        let whole = [0, 0, Double(stored.width), Double(stored.height)]
        #expect([region.left, region.top, region.width, region.height] == example.shown ?? whole)
    }

    @Test func scaledSizeIsNeverEmptyNorEnlargedUnrequested() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let stored = PixelSize(
                width: .random(in: 1...65_535, using: &random), height: .random(in: 1...65_535, using: &random))
            let limit = PixelSize(
                width: .random(in: 1...70_000, using: &random), height: .random(in: 1...70_000, using: &random))
            for target in [DecodeOptions.Target.fit(limit), .fill(limit)] {
                let plan = ScalePlan(of: stored, orientation: .up, options: DecodeOptions(target: target))
                let scaled = plan.scaledSize
                let region = plan.region
                #expect((1...min(stored.width, limit.width)).contains(scaled.width))
                #expect((1...min(stored.height, limit.height)).contains(scaled.height))
                #expect(Double(scaled.width) <= region.width + 1e-6 && Double(scaled.height) <= region.height + 1e-6)
                #expect(region.left >= 0 && region.left + region.width <= Double(stored.width) + 1e-6)
                #expect(region.top >= 0 && region.top + region.height <= Double(stored.height) + 1e-6)
            }
        }
    }
}
