import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

@Suite
struct PNGEncoderTests {
    @Test(arguments: [false, true], [(1, 1), (7, 5), (300, 200)])
    func pngPreservesPixelsExactly(hasAlpha: Bool, size: (Int, Int)) throws {
        let image = try TestImages.photo(width: size.0, height: size.1, hasAlpha: hasAlpha)
        let decoded = try decode(image.encoded(as: .png))
        #expect(decoded.pixels.bytes == image.bytes)
        #expect(decoded.header.hasAlpha == !image.isOpaque)
    }

    @Test
    func emptyPNGIsRejected() throws {
        let empty = try PixelBuffer(size: PixelSize(width: 0, height: 0), bytes: []).unwrapped()
        for format in EncodeOptions.formats {
            #expect(throws: CodecError.encodingFailed(format, "it has no pixels")) { try empty.encoded(as: format) }
        }
    }
}
