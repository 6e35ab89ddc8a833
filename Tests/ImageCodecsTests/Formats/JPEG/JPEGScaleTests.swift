import Testing

@testable import ImageCodecs

@Suite struct JPEGScaleTests {
    @Test(arguments: [
        (1_600, 1_200, 50, 1), (1_600, 1_200, 133, 1), (1_600, 1_200, 134, 2), (1_600, 1_200, 256, 2),
        (1_600, 1_200, 267, 2), (1_600, 1_200, 268, 4), (1_600, 1_200, 533, 4), (1_600, 1_200, 534, 8),
        (1_600, 1_200, 1_600, 8), (1_600, 1_200, 4_000, 8), (1, 1, 1, 1), (65_535, 1, 1, 1), (65_535, 65_535, 1, 1),
    ])
    func scaleIsTheSmallestFastOneOfAtLeastOneAndAHalfTimesTheTarget(width: Int, height: Int, side: Int, eighths: Int) {
        let size = PixelSize(width: width, height: height)
        let target = PixelSize(width: side, height: max(1, side * height / width))
        #expect(JPEGScale(of: size, for: target).eighths == eighths)
    }

    @Test func bothSidesAreAtLeastOneAndAHalfTimesTheTarget() {
        let size = PixelSize(width: 800, height: 400)
        #expect(JPEGScale(of: size, for: PixelSize(width: 133, height: 67)).eighths == 2)
        #expect(JPEGScale(of: size, for: PixelSize(width: 133, height: 68)).eighths == 4)
    }

    @Test func roundedUpSizeCountsAsTheSizeOfAScale() {
        #expect(JPEGScale(of: PixelSize(width: 9, height: 9), for: PixelSize(width: 1, height: 1)).rowSize.width == 2)
    }
}
