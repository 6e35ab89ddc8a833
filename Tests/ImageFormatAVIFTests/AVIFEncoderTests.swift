#if AVIF
import ImageCodecs
import ImageEncoders
import ImageFormatAVIF
import ImageTestSupport
import Testing

struct AVIFEncoderTests {
    private func decode(_ file: [UInt8]) throws(CodecError) -> DecodedImage {
        try StreamingDecoder.decode(file.span, customFormats: [AVIFFormat()])
    }

    @Test(arguments: [true, false]) func losslessFileHasTheSamePixels(isOpaque: Bool) throws {
        let image = try TestImages.photo(width: 37, height: 21, hasAlpha: !isOpaque)
        let decoded = try decode(image.encoded(with: .avif(AVIFEncoder(isLossless: true))))
        #expect(decoded.pixels == image)
        #expect(decoded.header.hasAlpha == !isOpaque)
    }

    @Test func qualityDecidesSizeAndError() throws {
        let image = TestImage.photo(160, 120)
        var last = (bytes: 0, error: Int.max)
        for quality in [10, 50, 90] {
            let file = try image.encoded(with: .avif(AVIFEncoder(quality: quality, speed: 9)))
            let pixels = try decode(file).pixels
            let error = zip(pixels.bytes, image.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(file.count > last.bytes && error < last.error)
            last = (file.count, error)
        }
    }

    @Test func metadataIsStoredAndTheOrientationIsNotApplied() throws {
        let metadata = ImageMetadata(colorProfile: TestProfile.bytes("RGB "), exif: TestExif.bytes(orientation: 6))
        let file = try TestImage.photo(12, 8).encoded(with: .avif(), metadata: metadata)
        let read = ImageMetadata(file: file.span, customFormats: [AVIFFormat()])
        #expect(read == metadata)
        #expect(try decode(file).header.orientation == .up)
    }

    @Test func animationsAreNotEncoded() {
        #expect(throws: CodecError.encodingFailed(.avif, "AVIF has no animations")) {
            try AnimationEncoder(options: .avif(), size: PixelSize(width: 4, height: 4))
        }
    }
}
#endif
