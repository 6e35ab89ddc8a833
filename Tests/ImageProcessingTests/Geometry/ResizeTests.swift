import ImageCodecs
import ImageProcessing
import Testing

struct ResizeTests {
    @Test func sizesFollowTheRulesOfDecoding() throws {
        let size = PixelSize(width: 40, height: 30)
        let image = Samples.noise(size)
        let targets: [(DecodeOptions.Target, Int, Int)] = [
            (.maximumSide(20), 20, 15), (.shorterSide(15), 20, 15), (.fit(PixelSize(width: 30, height: 15)), 20, 15),
            (.fill(PixelSize(width: 10, height: 10)), 10, 10), (.original, 40, 30), (.maximumSide(80), 40, 30),
        ]
        for (target, width, height) in targets {
            let expected = PixelSize(width: width, height: height)
            #expect(try ImageTransformation.resize(to: target).outputSize(for: size) == expected)
            #expect(try image.applying(.resize(to: target)).size == expected)
        }
        #expect(
            try image.applying(.resize(to: .maximumSide(80), allowsUpscaling: true)).size
                == PixelSize(width: 80, height: 60))
    }

    @Test func boxFilterIsTheMeanOfPremultipliedColors() throws {
        for format in PixelFormat.allCases {
            for isOpaque in [true, false] {
                let image = Samples.noise(PixelSize(width: 40, height: 30), format, isOpaque: isOpaque)
                let original = ReferencePixels(image)
                let pixels = (0..<20 * 15).map { index in
                    let (x, y) = (index % 20 * 2, index / 20 * 2)
                    return (original[x, y] + original[x + 1, y] + original[x, y + 1] + original[x + 1, y + 1]) / 4
                }
                expect(
                    try image.applying(.resize(to: .maximumSide(20), resampling: Resampling(filter: .box))),
                    matches: ReferencePixels(width: 20, height: 15, pixels: pixels), "\(format)")
            }
        }
    }

    @Test func enlargementBeyondTheLimitsIsRefused() {
        let image = Samples.noise(PixelSize(width: 40, height: 30))
        #expect(throws: CodecError.overLimit(.side, value: 1_000_000, limit: 65_535)) {
            try image.applying(.resize(to: .maximumSide(1_000_000), allowsUpscaling: true))
        }
    }
}
