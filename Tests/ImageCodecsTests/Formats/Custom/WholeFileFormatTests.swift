import ImageCodecs
import ImageTestSupport
import QOI
import Testing

/// Formats that need the complete file.
struct WholeFileFormatTests {
    private static let formats: [any CustomFormat] = [WholeQOIFormat()]
    private let picture = TestImage.noise(90, 70, seed: 9, isOpaque: false)

    @Test func headerIsReadWhenTheFileIsComplete() throws {
        let file = picture.qoi()
        let decoder = StreamingDecoder(customFormats: Self.formats)
        try append(file, to: decoder)
        #expect(decoder.header == nil && decoder.plan == nil)
        try decoder.lookForHeaderAtEnd()
        #expect(decoder.header?.size == picture.size)
        #expect(try decoder.finish().pixels == picture)

        #expect(try ImageHeader.probe(file.span, customFormats: Self.formats) == nil)
        let header = try ImageHeader.probe(file.span, isComplete: true, customFormats: Self.formats)
        #expect(header?.size == picture.size)
    }

    @Test func bytesAfterTheEndOfTheFileAreIgnored() throws {
        let file = picture.qoi()
        let decoder = StreamingDecoder(customFormats: Self.formats)
        try append(file, to: decoder)
        try decoder.lookForHeaderAtEnd()
        try decoder.begin()
        try append(file, to: decoder)
        #expect(try decoder.finish().pixels == picture)
    }

    /// A format of two frames, which are shown for longer than possible, and for less than no time.
    private struct TimelessFormat: WholeFileFormat {
        final class Frames: WholeFileAnimation {
            let delays: [Duration] = [.seconds(Int64.max), .seconds(-1)]
            let repetitionCount = 0
            func decodeFrame(at index: Int, to rows: inout ImageRows) throws(CodecError) {}
        }

        let format = TestFormat.name
        func recognizes(_ beginning: Span<UInt8>) -> Bool { true }
        func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
            var header = ImageHeader(format: format, size: PixelSize(width: 4, height: 8))
            header.frameCount = nil
            return header
        }
        func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { 0 }
        func decode(
            _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
        ) throws(CodecError) {}
        func animation(of file: [UInt8], header: ImageHeader) throws(CodecError) -> (any WholeFileAnimation)? {
            Frames()
        }
    }

    @Test func delaysOfFramesAreBounded() throws {
        let image = try AnimatedImage(TestFormat.file, customFormats: [TimelessFormat()])
        #expect(image.delays == [.seconds(1 << 32), .milliseconds(100)])
        #expect(image.duration > .seconds(1 << 32))
    }

    @Test func fileCountsAsMemoryOfTheDecode() throws {
        let file = picture.qoi()
        func bytes(_ format: any CustomFormat) throws -> Int? {
            let decoder = StreamingDecoder(customFormats: [format])
            try append(file, to: decoder)
            try decoder.lookForHeaderAtEnd()
            return decoder.plan?.estimatedBytes
        }
        #expect(try bytes(WholeQOIFormat()) == bytes(QOIFormat()).map { $0 + file.count })
    }

    @Test func verificationOfAnAnimationHoldsCopiesOfTheFile() throws {
        let verifier = ImageVerifier(customFormats: [TimelessFormat()])
        let file = TestFormat.file
        try verifier.append(file.span)
        try verifier.lookForHeaderAtEnd()
        #expect(verifier.estimatedBytes == 4 * file.count)
    }

    @Test func limitOfHeadersDoesNotApplyToWholeFiles() throws {
        let limits = DecodeLimits(maximumHeaderBytes: 20)
        let file = picture.qoi()
        #expect(try StreamingDecoder.decode(file.span, limits: limits, customFormats: Self.formats).pixels == picture)
        #expect(throws: CodecError.overLimit(.bytes, value: file.count, limit: 100)) {
            let limits = DecodeLimits(maximumBytes: 100)
            return try StreamingDecoder.decode(file.span, limits: limits, customFormats: Self.formats)
        }
        #expect(throws: CodecError.overLimit(.pixels, value: 6_300, limit: 6_299)) {
            let limits = DecodeLimits(maximumPixels: 6_299)
            return try StreamingDecoder.decode(file.span, limits: limits, customFormats: Self.formats)
        }
    }

    @Test(arguments: [0, 3, 11, 12, 40])
    func truncatedWholeFileIsAnError(count: Int) throws {
        let file = Array(picture.qoi().prefix(count))
        #expect(throws: CodecError.self) { try StreamingDecoder.decode(file.span, customFormats: Self.formats) }
        let decoder = StreamingDecoder(customFormats: Self.formats)
        #expect(throws: CodecError.self) {
            try append(file, to: decoder)
            return try decoder.finish()
        }
    }

    @Test func customFormatStopsWhenItsTaskIsCanceled() async throws {
        let file = picture.qoi()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try StreamingDecoder.decode(file.span, customFormats: Self.formats)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(QOIFormat().format)) { try result.get() }
    }

    @Test func metadataOfACustomFormatIsRead() {
        var format = TestFormat()
        format.metadata = ImageMetadata(colorProfile: [1, 2], exif: TestExif.bytes(orientation: 6))
        let file = TestFormat.file
        #expect(ImageMetadata(file: file.span, customFormats: [format]) == format.metadata)
        #expect(ImageMetadata(file: file.span).isEmpty)
    }
}
