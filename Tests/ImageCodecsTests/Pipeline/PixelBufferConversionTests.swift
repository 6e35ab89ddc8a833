import ImageTestSupport
import Testing

@testable import ImageCodecs

struct PixelBufferConversionTests {
    private func checkCount(_ image: PixelBuffer, scaledTo size: PixelSize) -> Int {
        var count = 0
        _ = image.turned(.up, scaledTo: size) { () throws(Never) in count += 1 }
        return count
    }

    /// A few rows can become a huge image.
    @Test func enlargementCanEndAtEveryRow() {
        #expect(checkCount(TestImage.photo(5, 3), scaledTo: PixelSize(width: 50, height: 30)) == 3)
    }

    @Test func otherWorkCanEndAfterBandsOfRows() {
        #expect(checkCount(TestImage.photo(5, 130), scaledTo: PixelSize(width: 5, height: 13)) == 3)
    }
}
