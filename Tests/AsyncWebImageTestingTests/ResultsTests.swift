import AsyncWebImage
import AsyncWebImageTesting
import ImageCodecs
import Testing

/// Results that no loader has delivered.
struct ResultsTests {
    @Test func resultsHaveTheGivenProperties() throws {
        let size = PixelSize(width: 2, height: 1)
        let pixels = try #require(PixelBuffer(size: size, bytes: [UInt8](repeating: 9, count: 8)))

        let image = ImageResponse(
            pixels: pixels, url: "https://example.com/a@2x.png", headerFields: [.eTag: "\"1\""], source: .disk,
            byteCount: 70)
        #expect(image.pixels == pixels && image.image.originalSize == size && image.scale == 2)
        #expect(image.source == .disk && image.byteCount == 70 && image.head.response.headerFields[.eTag] == "\"1\"")

        let info = ImageInfo(header: ImageHeader(format: .webp, size: size))
        #expect(info.header.size == size && info.head.url.string == "https://example.com/image")

        let body = ResponseBody(bytes: [1], url: "not a URL")
        #expect(body.bytes == [1] && body.source == .network && body.head.url.string == "content:not a URL")

        let animation = AnimationResponse(animation: AnimatedImage(still: image.image))
        #expect(animation.animation.frameCount == 1 && animation.head.status == .ok)
    }
}
