import ImageCodecs
import ImageEncoders
import ImageTestSupport
import QOI
import Testing

/// An encoder of another module is used like those of this one.
struct CustomEncoderTests {
    private let picture = TestImage.photo(20, 10)

    @Test func customEncoderWritesItsFormat() throws {
        let options = EncodeOptions(QOIEncoder())
        #expect(options.format == QOIFormat().format)
        let file = try picture.encoded(with: options)
        #expect(file[12] == 3)
        #expect(try StreamingDecoder.decode(file.span, customFormats: [QOIFormat()]).pixels == picture)
        #expect(try picture.encoded(with: EncodeOptions(QOIEncoder(alwaysHasAlpha: true)))[12] == 4)
    }

    @Test func customEncoderReceivesTheFormatItSupports() throws {
        let png = try picture.encoded(as: .png)
        let deep = try StreamingDecoder.decode(png.span, options: DecodeOptions(pixelFormat: .rgba16)).pixels
        let file = try deep.encoded(with: EncodeOptions(QOIEncoder()))
        #expect(try StreamingDecoder.decode(file.span, customFormats: [QOIFormat()]).pixels == picture)
    }

    @Test func animationIsConvertedToACustomFormat() throws {
        let frames = try TestImages.wanderingSquare(3)
        let gif = try AnimatedImage(try animation(of: frames, as: .gif))
        let file = try gif.encoded(with: EncodeOptions(QOIEncoder()))
        let image = try AnimatedImage(file, customFormats: [QOIFormat()])
        #expect(try image.allFrames() == gif.allFrames())
        #expect(image.delays == gif.delays)
        #expect(throws: CodecError.self) {
            try gif.encoded(with: EncodeOptions(QOIEncoder()), maximumBytes: file.count - 1)
        }
    }

    @Test func longDelaysAreShortened() throws {
        let encoder = try AnimationEncoder(options: EncodeOptions(QOIEncoder()), size: picture.size)
        for _ in 0..<2 { try encoder.append(picture, delay: .seconds(Int64.max)) }
        let image = try AnimatedImage(try encoder.finish(), customFormats: [QOIFormat()])
        #expect(image.delays == [.milliseconds(65_535), .milliseconds(65_535)])
    }

    @Test func optionsWithEqualEncodersAreEqual() {
        #expect(EncodeOptions(QOIEncoder()) == EncodeOptions(QOIEncoder()))
        #expect(EncodeOptions(QOIEncoder()) != EncodeOptions(QOIEncoder(alwaysHasAlpha: true)))
        #expect(EncodeOptions(QOIEncoder()) != .png())
        #expect(EncodeOptions.jpeg().encoder.identity != EncodeOptions.jpeg(.init(quality: 1)).encoder.identity)
        #expect(Set([EncodeOptions.jpeg(), .jpeg(), .png()]).count == 2)
    }

    @Test func encoderWithoutAnimationsThrows() {
        struct Still: ImageEncoder {
            let format = QOIFormat().format
            let identity = "still"
            func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int { 0 }
            func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) -> [UInt8] { [] }
        }
        #expect(throws: CodecError.encodingFailed(QOIFormat().format, "QOI has no animations")) {
            try AnimationEncoder(options: EncodeOptions(Still()), size: picture.size)
        }
    }

    @Test func formatWithoutARegisteredEncoderIsAnError() {
        let error = CodecError.encodingFailed(QOIFormat().format, "there is no encoder for it")
        #expect(throws: error) { try picture.encoded(as: QOIFormat().format) }
        #expect(throws: error) { try AnimationEncoder(format: QOIFormat().format, size: picture.size) }
    }
}
