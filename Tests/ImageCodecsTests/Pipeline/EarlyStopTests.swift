import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Decodes that end when all pixels are known.
@Suite(.timeLimit(.minutes(5)))
struct EarlyStopTests {
    /// The image, and how many bytes of the file it took.
    private func decodeBeginning(
        of file: [UInt8], _ target: DecodeOptions.Target, stops: Bool = true
    ) throws -> (image: DecodedImage, byteCount: Int) {
        let decoder = StreamingDecoder(options: DecodeOptions(target: target, stopsWhenComplete: stops))
        var count = 0
        while count < file.count, !decoder.needsNoMoreBytes {
            try append(file, count..<count + 1, to: decoder)
            if decoder.plan != nil { try decoder.begin() }
            count += 1
        }
        return (try decoder.finish(), count)
    }

    @Test func earlyStopSkipsDetailScansForSmallImages() throws {
        let file = try TestImage.photo(160, 120).encoded(as: .jpeg, quality: 80, isProgressive: true)
        let target = DecodeOptions.Target.maximumSide(13)
        let (image, byteCount) = try decodeBeginning(of: file, target)
        #expect(image == (try decode(file, options: DecodeOptions(target: target))))
        #expect(byteCount < file.count * 3 / 4)
        // The last scan, the largest, adds the last bit of lightness.
        let last = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        #expect(byteCount < last)
        #expect(try decodeBeginning(of: file, .maximumSide(14)).byteCount > last)
    }

    @Test func earlyStopSkipsRowsBelowTheCrop() throws {
        let file = try TestImage.photo(60, 180).encoded(as: .png)
        let (image, byteCount) = try decodeBeginning(of: file, .fill(PixelSize(width: 30, height: 30)))
        #expect(image.pixels == (try decode(file, options: DecodeOptions(target: .fill(image.pixels.size)))).pixels)
        #expect(byteCount < file.count * 4 / 5)
    }

    @Test func earlyStopSkipsFramesAfterTheFirst() throws {
        let frames = (0..<3).map { TestImage.photo(20, 20, seed: UInt64($0)) }
        let file = try animation(of: frames, as: .gif, delay: .zero, repetitionCount: 1)
        let (image, byteCount) = try decodeBeginning(of: file, .original)
        #expect(image.pixels == (try decode(file)).pixels)
        #expect(image.header.frameCount == nil)
        #expect(byteCount < file.count / 2)
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp])
    func earlyStopHeaderDoesNotDependOnPieceSizes(format: ImageFormat) throws {
        let file = try TestAnimation.file(format)
        let options = DecodeOptions(stopsWhenComplete: true)
        #expect(try decode(file, options: options) == decode(file, options: options) { 10 })
        let decoder = StreamingDecoder()
        try append(file, to: decoder)
        #expect(decoder.header?.frameCount == (format == .png ? 5 : nil))
        #expect(try decoder.finish().header.frameCount == 5)
    }

    @Test(arguments: EncodeOptions.formats)
    func wholeFileIsReadWithoutEarlyStop(format: ImageFormat) throws {
        let file = try TestImage.photo(20, 20).encoded(as: format)
        #expect(try decodeBeginning(of: file, .original, stops: false).byteCount == file.count)
        #expect(throws: CodecError.truncated(format)) { try decode(Array(file.prefix(file.count / 2))) }
    }

    @Test func bytesAfterAnEarlyStopAreIgnored() throws {
        let file = try TestImage.photo(20, 20).encoded(as: .png)
        let options = DecodeOptions(stopsWhenComplete: true)
        #expect(try decode(Array(file.dropLast(2)), options: options).pixels == decode(file).pixels)
        var limits = DecodeLimits()
        limits.maximumBytes = file.count
        let longer = file + file
        #expect(throws: Never.self) { try decode(longer, options: options, limits: limits) { 10 } }
    }
}
