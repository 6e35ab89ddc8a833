import Testing

@testable import ImageEncoders

struct WebPSimilarityTests {
    private let old: [UInt8] = [100, 100, 100, 255]

    @Test(arguments: [(100, 1), (85, 3), (75, 5), (1, 28)])
    func lossyFramesKeepPixelsThatDifferLittle(quality: Int, tolerance: UInt8) {
        let similarity = WebPSimilarity(WebPOptions(quality: quality))
        #expect(similarity.keeps(old, insteadOf: [100, 100 + tolerance, 100 - tolerance, 255], at: 0))
        #expect(!similarity.keeps(old, insteadOf: [100, 101 + tolerance, 100, 255], at: 0))
        #expect(!similarity.keeps(old, insteadOf: [100, 100, 99 - tolerance, 255], at: 0))
        #expect(!similarity.keeps(old, insteadOf: [100, 100, 100, 254], at: 0))
    }

    @Test func colorsOfTransparentPixelsMatterLess() {
        let similarity = WebPSimilarity(WebPOptions(quality: 100))
        #expect(similarity.keeps([0, 0, 0, 0], insteadOf: [255, 255, 255, 0], at: 0))
        #expect(similarity.keeps([0, 0, 0, 127], insteadOf: [2, 0, 0, 127], at: 0))
        #expect(!similarity.keeps([0, 0, 0, 127], insteadOf: [3, 0, 0, 127], at: 0))
    }

    @Test func losslessFramesKeepOnlyEqualPixels() {
        let similarity = WebPSimilarity(WebPOptions(quality: 1, isLossless: true))
        #expect(similarity.keeps(old, insteadOf: old, at: 0))
        #expect(!similarity.keeps(old, insteadOf: [100, 101, 100, 255], at: 0))
        #expect(!similarity.keeps([0, 0, 0, 0], insteadOf: [0, 0, 1, 0], at: 0))
    }
}
