import ImageEncoders
import ImageTestSupport
import QOI
import Testing

@testable import ImageCodecs

struct FormatTableTests {
    @Test func formatTableContainsTheBuiltInFormats() {
        #expect(FormatTable.builtIn.descriptors.map(\.format) == [.jpeg, .png, .webp, .gif, .bmp, .ico])
        // Except for BMP, the deciding bytes are always among those that are checked first.
        let others = FormatTable.builtIn.descriptors.filter { $0.format != .bmp }
        #expect(others.map(\.signatureLength).max() == ImageFormat.signatureLength)
    }

    @Test func formatTableListsCustomFormatsAfterBuiltInOnes() {
        let table = FormatTable(adding: [QOIFormat()])
        #expect(table.descriptors.map(\.format) == FormatTable.builtIn.descriptors.map(\.format) + [QOIFormat().format])
    }

    @Test(arguments: EncodeOptions.formats)
    func aFileIsRecognizedByItsFirstBytesAlone(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 5, height: 4).encoded(as: format)
        let table = FormatTable(adding: [QOIFormat()])
        #expect(try table.format(of: file.span.extracting(first: 12), isComplete: false)?.format == format)
        #expect(try table.format(of: file.span.extracting(first: 2), isComplete: false) == nil)
    }

    @Test(arguments: EncodeOptions.formats)
    func aFileThatEndsInsideItsSignatureIsTruncated(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 5, height: 4).encoded(as: format)
        for count in 1...12 {
            #expect(FormatTable.builtIn.failure(of: file.span.extracting(first: count)) == .truncated(format))
        }
    }

    @Test func moreBytesAreAwaitedOnlyOfAFileThatBeginsLikeABMP() throws {
        let file = TestBMP(width: 1, height: 1, bits: 24, data: [1, 2, 3, 0]).file()
        let table = FormatTable.builtIn
        #expect(try table.format(of: file.span.extracting(first: 17), isComplete: false) == nil)
        #expect(try table.format(of: file.span.extracting(first: 18), isComplete: false)?.format == .bmp)
        #expect(throws: CodecError.truncated(.bmp)) {
            try table.format(of: file.span.extracting(first: 17), isComplete: true)
        }
        let other = [UInt8](repeating: 0x20, count: 12)
        #expect(throws: CodecError.notAnImage(lookingLike: "white space")) {
            try table.format(of: other.span, isComplete: false)
        }
    }

    @Test(arguments: ["GIF8x", "RIFF....AVI", "RIFF....WAVE", "\u{89}PN3"])
    func fileThatOnlyBeginsLikeASignatureIsUnsupported(text: String) {
        let bytes = Array(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        guard case .notAnImage = FormatTable.builtIn.failure(of: bytes.span) else {
            Issue.record("\(text) is taken for an image")
            return
        }
    }

    @Test func formatThatMayStillRecognizeTheFileIsAwaited() throws {
        let table = FormatTable(adding: [TestFormat(signatureLength: 200, begin: TestFormat.rows(8))])
        let bytes = [UInt8](repeating: 0x20, count: 199)
        #expect(try table.format(of: bytes.span, isComplete: false) == nil)
        #expect(throws: CodecError.self) { try table.format(of: bytes.span, isComplete: true) }
    }
}
