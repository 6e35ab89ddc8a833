import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct FormatGuessTests {
    @Test(arguments: [
        ("<!DOCTYPE html><html>", "HTML"),
        ("\n  <html lang=\"en\">", "HTML"),
        ("<?xml version=\"1.0\"?>", "XML or SVG"),
        ("<svg xmlns=\"http://www.w3.org/2000/svg\">", "XML or SVG"),
        ("{\"error\": \"not found\"}", "JSON"),
        ("%PDF-1.7 and so on", "a PDF"),
        ("Not found, sorry.", "plain text"),
        ("                ", "white space"),
        ("BM1234\0\0\0\0abcdef", "BMP"),
        ("II*\0abcdefghijk", "TIFF"),
        ("\0\0\0\u{20}ftypavif\0\0\0\0", "AVIF"),
        ("\0\0\0\u{20}ftypheic\0\0\0\0", "HEIC"),
        ("\0\0\0\u{20}ftypmif1\0\0\0\0", "AVIF or HEIC"),
        ("\0\0\u{1}\0\u{1}\0abcdefg", "ICO"),
    ])
    func unsupportedFileTypesAreNamed(text: String, name: String) {
        let bytes = Array(text.utf8)
        #expect(throws: CodecError.unsupportedFormat(lookingLike: name)) { try ImageHeader.probe(bytes.span) }
    }

    @Test
    func errorOfUnknownFormatShowsTheFirstBytes() {
        let bytes: [UInt8] = [0x00, 0x01, 0xAB, 0xCD, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: CodecError.unsupportedFormat(lookingLike: "data beginning 00 01 AB CD 00 00 00 00")) {
            try ImageHeader.probe(bytes.span)
        }
        let gzip = [0x1F, 0x8B] + bytes
        #expect(throws: CodecError.unsupportedFormat(lookingLike: "gzip")) { try ImageHeader.probe(gzip.span) }
    }

    @Test
    func fewerThanTwelveBytesDecideNoFormat() throws {
        let bytes = Array("<html></htm".utf8)
        #expect(try ImageHeader.probe(bytes.span) == nil)
    }
}
