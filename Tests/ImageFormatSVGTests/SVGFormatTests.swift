#if SVG
import Foundation
import ImageCodecs
import ImageEncoders
import ImageFormatSVG
import ImageTestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct SVGFormatTests {
    private static let formats: [any CustomFormat] = [SVGFormat()]

    private func decode(
        _ text: String, _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        format: SVGFormat = SVGFormat()
    ) throws -> DecodedImage {
        let file = Array(text.utf8)
        return try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: [format])
    }

    private func svg(_ attributes: String, _ content: String) -> String {
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \(attributes)>\(content)</svg>"
    }

    private static let circle = "<circle cx='50' cy='25' r='20' fill='#3060c080' stroke='red'/>"

    @Test func halfTransparentPixelsHaveStraightAlpha() throws {
        let image = try decode(svg("width='3' height='2'", "<rect width='2' height='2' fill='#ff8000' opacity='0.5'/>"))
        #expect(image.pixels.size == PixelSize(width: 3, height: 2))
        #expect(image.header.format == .svg && image.header.hasAlpha)
        let half = Array(image.pixels.bytes[0..<4])
        #expect(half[0] == 255 && (127...129).contains(half[1]) && half[2] == 0 && (127...128).contains(half[3]))
        #expect(image.pixels.bytes[8..<12].allSatisfy { $0 == 0 })
    }

    @Test(
        arguments: [
            ("width='40' height='30'", 40, 30), ("width='1in' height='12pt'", 96, 16), ("viewBox='0 0 7 9'", 7, 9),
            ("", 300, 150), ("width='2.5' height='2.2'", 3, 3), ("width='1e9' height='1'", 32_767, 1),
        ])
    func sizeIsTheDeclaredOne(attributes: String, width: Int, height: Int) throws {
        #expect(try decode(svg(attributes, "")).pixels.size == PixelSize(width: width, height: height))
    }

    @Test(
        .enabled(if: ReferenceDecoder.has("rsvg-convert"), "without rsvg-convert"),
        arguments: [
            ("width='100' height='50'", 100, 50), ("width='100' height='50'", 40, 20),
            ("width='24' height='12'", 1_024, 512), ("width='2.4px' height='1.2px'", 1_024, 512), ("", 4_096, 2_048),
            ("width='100%' height='100%'", 333, 167),
        ])
    func imageIsRenderedAtTheRequestedSize(attributes: String, width: Int, height: Int) throws {
        let text = svg("\(attributes) viewBox='0 0 100 50'", Self.circle)
        let image = try decode(text, DecodeOptions(target: .maximumSide(width)))
        #expect(image.pixels.size == PixelSize(width: width, height: height))
        let png = try ReferenceDecoder.convert(
            [Array(text.utf8)], with: "rsvg-convert", "-w \(image.pixels.width) -h \(image.pixels.height)", from: "svg",
            output: "-o", to: "png")
        let reference = try StreamingDecoder.decode(png.span).pixels
        #expect(image.pixels == reference)
        #expect(try image.originalSize == decode(text).pixels.size)
    }

    @Test(.enabled(if: ReferenceDecoder.has("rsvg-convert"), "without rsvg-convert"))
    func imageFillsABox() throws {
        let text = svg("width='24' height='12' viewBox='0 0 100 50'", Self.circle)
        let image = try decode(text, DecodeOptions(target: .fill(PixelSize(width: 300, height: 300)))).pixels
        let whole = try decode(text, DecodeOptions(target: .maximumSide(600))).pixels
        #expect(whole.size == PixelSize(width: 600, height: 300))
        for y in 0..<300 {
            let row = whole.bytes[(y * 600 + 150) * 4..<(y * 600 + 450) * 4]
            #expect(image.bytes[y * 1_200..<(y + 1) * 1_200] == row, "row \(y)")
        }
    }

    @Test func fileIsDecodedHoweverItArrives() throws {
        let file = Array(svg("width='20' height='10'", "<rect width='10' height='10' fill='blue'/>").utf8)
        let expected = try StreamingDecoder.decode(file.span, customFormats: Self.formats).pixels
        for pieces in [[0..<40, 40..<file.count], file.indices.map { $0..<$0 + 1 }] {
            let decoder = StreamingDecoder(customFormats: Self.formats)
            for piece in pieces { try append(file, piece, to: decoder) }
            #expect(try decoder.finish().pixels == expected)
        }
    }

    @Test(
        arguments: [
            ("<svg/>", true), (" \n<?xml version='1.0'?><!-- a --><svg/>", true), ("<!DOCTYPE svg [] ><svg/>", true),
            ("<!DOCTYPE html><svg/>", false), ("<?xml version='1.0'?><html><svg/>", false), ("text <svg/>", false),
            ("<?xml version='1.0'?><rss>", false), ("<!--" + String(repeating: "a", count: 4_000) + "--><svg/>", true),
        ])
    func textThatBeginsWithTheElementIsRecognized(text: String, isSVG: Bool) {
        let bytes = Array(text.utf8)
        let isRecognized = SVGFormat().recognizes(bytes.span)
        #expect(isRecognized == isSVG)
    }

    @Test func imageLargerThanCanBeRenderedIsReducedToTheTarget() throws {
        let box = "viewBox='0 0 50000 40000'"
        let image = try decode(svg(box, ""), DecodeOptions(target: .maximumSide(500)))
        #expect(image.pixels.size == PixelSize(width: 500, height: 400))
        #expect(image.originalSize == PixelSize(width: 17_889, height: 14_311))
    }

    @Test func neitherFilesNorURLsAreUsed() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).png")
        try Data(TestImage.photo(8, 8).encoded(as: .png)).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for link in ["file://\(file.path)", file.path, "http://127.0.0.1:9/a.png"] {
            let image = try decode(
                svg("width='8' height='8'", "<image xlink:href='\(link)' width='8' height='8'/>"))
            #expect(image.pixels.bytes.allSatisfy { $0 == 0 }, "\(link)")
        }
        let entity = "<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"
        let text = entity + svg("width='80' height='20'", "<text y='15'>&e;</text>")
        if let image = try? decode(text) { #expect(image.pixels.bytes.allSatisfy { $0 == 0 }) }
    }

    @Test func limitsAreCheckedBeforeRendering() throws {
        #expect(throws: CodecError.overLimit(.pixels, value: 10_000, limit: 9_999)) {
            try decode(svg("width='100' height='100'", ""), limits: DecodeLimits(maximumPixels: 9_999))
        }
        let icon = svg("width='24' height='24'", "")
        #expect(throws: CodecError.overLimit(.pixels, value: 10_000, limit: 9_999)) {
            try decode(icon, DecodeOptions(target: .maximumSide(100)), limits: DecodeLimits(maximumPixels: 9_999))
        }
        #expect(throws: CodecError.overLimit(.side, value: 65_536, limit: 65_535)) {
            try decode(icon, DecodeOptions(target: .maximumSide(65_536)))
        }
        #expect(throws: CodecError.corrupt(.svg, "it has no size")) { try decode(svg("width='0' height='1'", "")) }
    }

    @Test func bombIsAnError() {
        let levels = (1...9).map { "<!ENTITY a\($0) '\(String(repeating: "&a\($0 - 1);", count: 10))'>" }
        let bomb =
            "<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a0 'aaaaaaaaaa'>\(levels.joined())]>"
            + svg("width='9' height='9'", "<text>&a9;</text>")
        #expect(throws: CodecError.self) { try decode(bomb) }
    }

    @Test func imageThatTakesTooLongIsAnError() {
        let uses = (1...30).map { index in
            "<g id='g\(index)'>" + String(repeating: "<use xlink:href='#g\(index - 1)'/>", count: 10) + "</g>"
        }
        let content = "<defs><g id='g0'><rect width='1' height='1'/></g>\(uses.joined())</defs><use xlink:href='#g30'/>"
        let filter =
            "<filter id='f'>" + String(repeating: "<feTurbulence numOctaves='9' baseFrequency='9'/>", count: 900)
            + "</filter><rect width='2000' height='2000' filter='url(#f)'/>"
        for (text, size) in [(content, 9), (filter, 2_000)] {
            #expect(throws: CodecError.self) {
                try decode(
                    svg("width='\(size)' height='\(size)'", text), format: SVGFormat(timeLimit: .milliseconds(800)))
            }
        }
    }

    @Test func damagedFileGivesAnErrorOrAnImage() throws {
        let file = Array(svg("width='20' height='10'", Self.circle + "<text y='9'>a</text>").utf8)
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var damaged = file
            for _ in 0...seed % 3 {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let cut = Array(damaged.prefix(Int.random(in: 1...file.count, using: &random)))
            for bytes in [damaged, cut] {
                let limits = DecodeLimits(maximumPixels: 1 << 16)
                if let image = try? StreamingDecoder.decode(bytes.span, limits: limits, customFormats: Self.formats) {
                    #expect(image.pixels.size.area <= 1 << 16)
                }
            }
        }
    }

    @Test func missingProgramIsAnError() {
        let format = SVGFormat(program: "/nowhere/webimage-svg")
        let error = #expect(throws: CodecError.self) { try decode(svg("width='1' height='1'", ""), format: format) }
        #expect(error?.description.contains("/nowhere/webimage-svg is not installed") == true)
    }

    @Test func decodeStopsWhenItsTaskIsCanceled() async throws {
        let text = svg("width='20' height='10'", "")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try decode(text)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.svg)) { try result.get() }
    }
}
#endif
