import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

@Suite
struct WebPEncoderTests {
    @Test
    func lossyWebPApproximatesPixels() throws {
        let image = try TestImages.photo(width: 120, height: 80)
        let decoded = try decode(image.encoded(as: .webp, quality: 95))
        let differences = zip(image.bytes, decoded.pixels.bytes).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) / differences.count < 8)
        #expect(!decoded.header.hasAlpha)
    }

    @Test
    func lossyWebPPreservesAlphaExactly() throws {
        let image = try TestImages.photo(width: 120, height: 80, hasAlpha: true)
        let decoded = try decode(image.encoded(as: .webp))
        let alpha = stride(from: 3, to: image.bytes.count, by: 4)
        #expect(alpha.allSatisfy { image.bytes[$0] == decoded.pixels.bytes[$0] })
    }

    @Test
    func lowerWebPQualityGivesSmallerFiles() throws {
        let image = try TestImages.photo(width: 120, height: 80)
        #expect(try image.encoded(as: .webp, quality: 20).count < image.encoded(as: .webp, quality: 90).count)
    }

    @Test
    func oversizedWebPIsRejected() throws {
        let image = PixelBuffer(transparent: PixelSize(width: 16_384, height: 1))
        #expect(throws: CodecError.encodingFailed(.webp, "more than 16383 pixels on one side")) {
            try image.encoded(as: .webp)
        }
    }
}
