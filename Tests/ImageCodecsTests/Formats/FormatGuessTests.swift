import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct FormatGuessTests {
    @Test(arguments: [
        ("<!DOCTYPE html><html>", "HTML"),
        ("\n  <html lang=\"en\">", "HTML"),
        ("<?xml version=\"1.0\"?>", "XML or SVG"),
        ("{\"error\": \"not found\"}", "JSON"),
        ("%PDF-1.7 and so on", "a PDF"),
        ("Not found, sorry.", "plain text"),
        ("                ", "white space"),
        ("PAR1\u{15}\u{4}\u{15}\u{10}\u{15}\u{14}LM", "Parquet"),
        ("\0\0\0\u{20}ftypisom\0\0\0\0", "MPEG-4"),
    ])
    func filesThatAreNotImagesAreNamed(text: String, name: String) {
        let bytes = Array(text.utf8)
        #expect(throws: CodecError.notAnImage(lookingLike: name)) { try ImageHeader.probe(bytes.span) }
    }

    @Test(
        arguments: [
            (Array("II*\0abcdefghijk".utf8), "TIFF"),
            (Array("MM\0+\0\u{8}\0\0ijkl".utf8), "TIFF"),
            (Array("\0\0\0\u{20}ftypavif\0\0\0\0".utf8), "AVIF"),
            (Array("\0\0\0\u{20}ftypheic\0\0\0\0".utf8), "HEIC"),
            (Array("\0\0\0\u{20}ftypmif1\0\0\0\0".utf8), "AVIF or HEIC"),
            (Array("\0\0\0\u{c}JXL \r\n".utf8) + [0x87, 0x0A], "JPEG XL"),
            ([0xFF, 0x0A, 0, 0x10, 0xB0, 0x13, 0, 0, 0, 0, 0, 0], "JPEG XL"),
            (Array("<svg xmlns=\"http://www.w3.org/2000/svg\">".utf8), "SVG"),
            (Array("<?xml version=\"1.0\"?>\n<!-- a drawing -->\n<svg width=\"1\">".utf8), "SVG"),
        ] as [([UInt8], String)])
    func imagesInUnsupportedFormatsAreNamed(bytes: [UInt8], name: String) {
        #expect(throws: CodecError.unsupportedFormat(name)) { try ImageHeader.probe(bytes.span) }
    }

    @Test
    func errorOfUnknownFormatShowsTheFirstBytes() {
        let bytes: [UInt8] = [0x00, 0x01, 0xAB, 0xCD, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: CodecError.notAnImage(lookingLike: "data beginning 00 01 AB CD 00 00 00 00")) {
            try ImageHeader.probe(bytes.span)
        }
        let gzip = [0x1F, 0x8B] + bytes
        #expect(throws: CodecError.notAnImage(lookingLike: "gzip")) { try ImageHeader.probe(gzip.span) }
    }

    @Test
    func fewerThanTwelveBytesDecideNoFormat() throws {
        let bytes = Array("<html></htm".utf8)
        #expect(try ImageHeader.probe(bytes.span) == nil)
    }
}
