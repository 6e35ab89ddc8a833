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

    @Test func grayProfileIsLeftOut() throws {
        let metadata = ImageMetadata(colorProfile: TestProfile.bytes("GRAY"))
        let file = try TestImage.photo(12, 8).encoded(with: .avif(), metadata: metadata)
        #expect(ImageMetadata(file: file.span, customFormats: [AVIFFormat()]).colorProfile == nil)
    }

    @Test(arguments: [true, false]) func losslessAnimationHasTheSameFrames(isOpaque: Bool) throws {
        let frames = try (0..<3).map {
            try TestImages.photo(width: 20 + 0 * $0, height: 16, hasAlpha: !isOpaque && $0 > 0)
        }
        let encoder = try AnimationEncoder(
            options: .avif(AVIFEncoder(isLossless: true, speed: 10)), size: frames[0].size)
        for (index, frame) in frames.enumerated() {
            try encoder.append(frame, delay: .milliseconds(50 * (index + 1)))
        }
        let image = try AnimatedImage(try encoder.finish(), customFormats: [AVIFFormat()])
        #expect(image.delays == [.milliseconds(50), .milliseconds(100), .milliseconds(150)])
        #expect(try image.allFrames() == frames)
    }

    @Test func animationWithoutDelaysIsEncoded() throws {
        let frames = try TestImages.wanderingSquare(4)
        let encoder = try AnimationEncoder(options: .avif(), size: frames[0].size)
        for frame in frames { try encoder.append(frame, delay: .zero) }
        #expect(try AnimatedImage(try encoder.finish(), customFormats: [AVIFFormat()]).frameCount == 4)
    }

    @Test func fileGetsTheBestQualityThatFits() throws {
        let image = TestImage.photo(160, 120)
        let options = EncodeOptions.avif(AVIFEncoder(quality: 90, speed: 9))
        let whole = try image.encoded(with: options)
        let file = try image.encoded(with: options, maximumBytes: whole.count / 2)
        #expect((whole.count / 4...whole.count / 2).contains(file.count))
        let lossless = EncodeOptions.avif(AVIFEncoder(isLossless: true, speed: 9))
        #expect(throws: CodecError.self) { try image.encoded(with: lossless, maximumBytes: 1_000) }
    }
}
#endif
