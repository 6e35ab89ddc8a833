import ImageCodecs
import Testing

@testable import Scenarios

@Suite struct DecodeEngineTests {
    @Test(arguments: [
        (12_000, 8_334, 256, 1), (12_000, 8_334, 1_024, 2), (12_000, 8_334, 4_000, 4), (3_864, 2_588, 256, 1),
        (3_864, 2_588, 1_024, 4), (1_224, 816, 256, 4), (1_224, 816, 1_024, 8),
    ])
    func djpegScaleLeavesAtLeastOneAndAHalfTimesTheTargetSize(width: Int, height: Int, side: Int, eighths: Int) {
        let size = PixelSize(width: width, height: height)
        #expect(size.eighths(for: size.fitting(maximumSide: side)) == eighths)
    }

    @Test(arguments: [
        (12_000, 8_334, 1_024, 1_024, 711), (600, 1_200, 256, 128, 256), (200, 100, 256, 200, 100),
        (10_000, 1, 256, 256, 1),
    ])
    func fittingSizeIsNeverEnlarged(width: Int, height: Int, side: Int, fitWidth: Int, fitHeight: Int) {
        let fitting = PixelSize(width: width, height: height).fitting(maximumSide: side)
        #expect(fitting == PixelSize(width: fitWidth, height: fitHeight))
    }
}
