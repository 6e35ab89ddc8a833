#if JPEGXL
import ImageCodecs
import ImageEncoders
import ImageFormatJPEGXL
import ImageTestSupport
import Testing

struct JPEGXLEncoderTests {
    private func decode(_ file: [UInt8], _ options: DecodeOptions = DecodeOptions()) throws(CodecError) -> DecodedImage
    {
        try StreamingDecoder.decode(file.span, options: options, customFormats: [JPEGXLFormat()])
    }

    @Test(arguments: [true, false]) func losslessFileHasTheSamePixels(isOpaque: Bool) throws {
        let image = try TestImages.photo(width: 37, height: 21, hasAlpha: !isOpaque)
        let decoded = try decode(image.encoded(with: .jpegXL(JPEGXLEncoder(isLossless: true))))
        #expect(decoded.pixels == image)
        #expect(decoded.header.hasAlpha == !isOpaque)
        #expect(decoded.header.colorConversion == .unneeded)
    }

    @Test func deepPixelsAreKept() throws {
        let bytes = (0..<9 * 7 * 8).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 / 8) }
        let image = try PixelBuffer(size: PixelSize(width: 9, height: 7), bytes: bytes, format: .rgba16).unwrapped()
        let file = try image.encoded(with: .jpegXL(JPEGXLEncoder(isLossless: true)))
        #expect(try decode(file, DecodeOptions(pixelFormat: .rgba16)).pixels == image)
    }

    @Test func qualityDecidesSizeAndError() throws {
        let image = TestImage.photo(160, 120)
        var last = (bytes: 0, error: Int.max)
        for quality in [10, 50, 90] {
            let file = try image.encoded(with: .jpegXL(JPEGXLEncoder(quality: quality, effort: 3)))
            let pixels = try decode(file).pixels
            let error = zip(pixels.bytes, image.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(file.count > last.bytes && error < last.error)
            last = (file.count, error)
        }
    }

    @Test func metadataIsStoredAndTheOrientationIsNotApplied() throws {
        let metadata = ImageMetadata(exif: TestExif.bytes(orientation: 6))
        let file = try TestImage.photo(12, 8).encoded(with: .jpegXL(), metadata: metadata)
        let read = ImageMetadata(file: file.span, customFormats: [JPEGXLFormat()])
        #expect(read == metadata)
        #expect(try decode(file).header.orientation == .up)
    }

    @Test(arguments: [true, false]) func profilesOfOtherColorsAreIgnored(isLossless: Bool) throws {
        let image = TestImage.photo(12, 8)
        for colors in ["GRAY", "CMYK"] {
            let file = try image.encoded(
                with: .jpegXL(JPEGXLEncoder(isLossless: isLossless)),
                metadata: ImageMetadata(colorProfile: TestProfile.bytes(colors)))
            #expect(ImageMetadata(file: file.span, customFormats: [JPEGXLFormat()]).colorProfile == nil)
            if isLossless { #expect(try decode(file).pixels == image) }
        }
    }

    @Test func highEffortsTakeMoreMemory() {
        let base = 16 << 20
        func perPixel(_ effort: Int, isLossless: Bool = false, hasAlpha: Bool = false) -> Int {
            let encoder = JPEGXLEncoder(isLossless: isLossless, effort: effort)
            return (encoder.workingBytes(for: PixelSize(width: 1_000, height: 1_000), hasAlpha: hasAlpha) - base)
                / 1_000_000
        }
        #expect(perPixel(7) == 90 && perPixel(7, hasAlpha: true) == 120)
        #expect(perPixel(8) == 290 && perPixel(9, isLossless: true) == 160)
        #expect(perPixel(9, hasAlpha: true) == 386)
    }

    @Test func fileGetsTheBestQualityThatFits() throws {
        let image = TestImage.photo(160, 120)
        let options = EncodeOptions.jpegXL(JPEGXLEncoder(quality: 90, effort: 3))
        let whole = try image.encoded(with: options)
        let file = try image.encoded(with: options, maximumBytes: whole.count / 2)
        #expect((whole.count / 4...whole.count / 2).contains(file.count))
        let lossless = EncodeOptions.jpegXL(JPEGXLEncoder(isLossless: true, effort: 3))
        #expect(throws: CodecError.self) { try image.encoded(with: lossless, maximumBytes: 1_000) }
    }
}
#endif
