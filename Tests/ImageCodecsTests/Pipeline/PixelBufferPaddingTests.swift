import ImageTestSupport
import Testing

@testable import ImageCodecs

struct PixelBufferPaddingTests {
    private func padded(_ image: PixelBuffer, _ width: Int, _ height: Int) -> PixelBuffer {
        image.padded(to: PixelSize(width: width, height: height))
    }

    @Test(arguments: PixelFormat.allCases)
    func paddingIsWhiteAndOpaque(format: PixelFormat) {
        let image = TestImage.noise(5, 3, seed: 1, isOpaque: false).converted(to: format)
        let result = padded(image, 8, 8)
        #expect(result.size == PixelSize(width: 8, height: 8) && result.format == format)
        for y in 0..<8 {
            for x in 0..<8 {
                // The left and the upper margins are narrower.
                let isInside = (1..<6).contains(x) && (2..<5).contains(y)
                #expect(result[x, y] == (isInside ? image[x - 1, y - 2] : (255, 255, 255, 255)))
            }
        }
    }

    @Test func paddingNeverCropsTheImage() {
        let image = TestImage.photo(5, 3)
        #expect(padded(image, 5, 3) == image)
        #expect(padded(image, 2, 0) == image)
        #expect(padded(image, .min, 5).size == PixelSize(width: 5, height: 5))
        #expect(padded(TestImage.photo(0, 0), 2, 1).bytes == [UInt8](repeating: 255, count: 8))
    }
}
