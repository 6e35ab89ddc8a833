import AsyncWebImage
import ImageCodecs
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --line-options`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(2))
)
struct BatchLineOptionsTests {
    /// Returns the frames that result from lines with an image of 96 x 64 pixels and these options, which are JSON.
    private func frames(_ lines: [String?], _ options: [String]) async throws -> [BatchFrames.Frame] {
        let body = try #require(testPhotograph).encoded(as: .jpeg)
        return try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: body))
            let list = lines.enumerated().map { index, options in
                #"{"url":"\#(origin.url("/\(index)"))""# + (options.map { #","options":\#($0)"# } ?? "") + "}\n"
            }
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--ordered"] + options, input: list.joined())
            #expect(result.status == 0)
            return try BatchFrames(result.outputBytes).frames
        }
    }

    private func size(_ frame: BatchFrames.Frame) -> [Int?] {
        [frame.object["width"] as? Int, frame.object["height"] as? Int]
    }

    @Test func optionsOfALineReplaceThoseOfTheCommand() async throws {
        let frames = try await frames(
            [
                nil, "null", #"{"max_pixel_size":24}"#, #"{"fit":"60x20"}"#, #"{"fill":"20x20","format":"png"}"#,
                #"{"quality":10}"#, #"{"format":"webp"}"#,
            ], ["--max-pixel-size", "48", "--line-options"])
        #expect(frames.map(size) == [[48, 32], [48, 32], [24, 16], [30, 20], [20, 20], [48, 32], [48, 32]])
        #expect(
            frames.map { ImageFormat(signature: $0.file.span) } == [.jpeg, .jpeg, .jpeg, .jpeg, .png, .jpeg, .webp])
        #expect(frames[5].file.count < frames[0].file.count)
        #expect(frames[0].file == frames[1].file)
    }

    @Test func changesOfALineReplaceThoseOfTheCommand() async throws {
        let frames = try await frames(
            [
                nil, #"{"rotate":180}"#, #"{"crop":"16:9","gravity":"top"}"#, #"{"crop":"10x10+1+1","blur":1.5}"#,
                #"{"trim":true,"grayscale":true,"sharpen":1,"flip":"vertical"}"#,
                #"{"rounded":16,"background":"ff0000"}"#, #"{"rounded":"circle","format":"png"}"#,
            ], ["--max-pixel-size", "48", "--rotate", "90", "--line-options"])
        let sizes = frames.map(size)
        #expect(sizes[..<4] == [[32, 48], [48, 32], [27, 48], [10, 10]])
        #expect(sizes[5] == [32, 48])
        #expect(sizes[6] == [32, 32])
        let gray = try decode(frames[4].file).pixels.bytes
        #expect(gray[0] == gray[1] && gray[1] == gray[2])
        let red = try decode(frames[5].file).pixels.bytes
        #expect(red[0] > 200 && red[1] < 60)
    }

    @Test func sizeOfALineReplacesAResizeMode() async throws {
        let frames = try await frames(
            [nil, #"{"max_pixel_size":24}"#],
            ["--resize-mode", "border", "--image-size", "48", "--resize-only-if-bigger", "--line-options"])
        #expect(frames.map(size) == [[48, 48], [24, 16]])
    }

    @Test func linesWithoutConversionKeepTheirFiles() async throws {
        let frames = try await frames([nil, #"{"max_pixel_size":24}"#], ["--line-options"])
        let body = try #require(testPhotograph).encoded(as: .jpeg)
        #expect(frames[0].file == body)
        #expect(size(frames[1]) == [24, 16])
    }

    @Test(arguments: [
        ("[]", "not a JSON object"), (#""max_pixel_size""#, "not a JSON object"),
        (#"{"max_pixel_size":"24"}"#, "max_pixel_size"), (#"{"max_pixel_size":0}"#, "at least 1"),
        (#"{"fit":"60"}"#, "fit"), (#"{"fit":"6x6","fill":"6x6"}"#, "--fit and --fill"),
        (#"{"format":"bmp"}"#, "format"), (#"{"quality":101}"#, "--quality"),
        (#"{"rotate":45}"#, "--rotate"), (#"{"blur":1e9}"#, "--blur"), (#"{"crop":"a"}"#, "crop"),
        (#"{"gravity":"top"}"#, "--gravity"), (#"{"trim":1}"#, "trim"), (#"{"overlay":"/etc/passwd"}"#, "overlay"),
        (#"{"format":"original"}"#, "--format original"), (#"{"header":"Cookie: a"}"#, "header is unknown"),
    ])
    func unusableOptionsAreABadLine(options: String, reason: String) async throws {
        let frame = try #require(
            try await frames([options], ["--max-pixel-size", "48", "--line-options"]).first)
        #expect(frame.code == "bad_line")
        let message = try #require(frame.object["error_message"] as? String)
        #expect(message.contains(reason), "\(message)")
    }

    #if !AVIF
    @Test func lineWithAFormatThatIsNotBuiltInIsUnsupported() async throws {
        let frame = try #require(
            try await frames([#"{"format":"avif"}"#], ["--max-pixel-size", "48", "--line-options"]).first)
        #expect(frame.code == "unsupported")
    }
    #endif

    @Test func lineThatIsNotConvertedHasNoPixelHash() async throws {
        let frame = try #require(
            try await frames(
                [#"{"format":"original"}"#], ["--format", "jpeg", "--compute-phash", "--line-options"]
            ).first)
        #expect(frame.code == "bad_line")
    }

    @Test func optionsColumnHasNoEffectWithoutLineOptions() async throws {
        let frame = try #require(
            try await frames([#"{"max_pixel_size":24}"#], ["--max-pixel-size", "48", "--echo"]).first)
        #expect(size(frame) == [48, 32])
        #expect((frame.object["options"] as? [String: Int]) == ["max_pixel_size": 24])
    }

    @Test func columnOfATableHasOptionsAsText() async throws {
        let body = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: body))
            let list = "url,options\n\(origin.url("/0")),\"{\"\"max_pixel_size\"\":24}\"\n\(origin.url("/1")),\n"
            let result = try await Command.run(
                [
                    "batch", "--input", "-", "--input-format", "csv", "--output", "-", "--ordered", "--max-pixel-size",
                    "48", "--line-options",
                ], input: list)
            #expect(try BatchFrames(result.outputBytes).frames.map(size) == [[24, 16], [48, 32]])
        }
    }
}
