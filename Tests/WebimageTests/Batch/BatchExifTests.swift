import ArgumentParser
import AsyncWebImage
import ImageCodecs
import Foundation
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --exif`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchExifTests {
    private let expected = ExifText.text(of: TestExif.photo)

    /// Runs `body` with a list of a JPEG, a PNG, and a WebP file with Exif data, a PNG file with Exif data behind its
    /// pixels, a GIF file, and a dead link.
    private func withList(_ body: (_ list: String) async throws -> Void) async throws {
        let photograph = try #require(testPhotograph)
        let metadata = ImageMetadata(exif: TestExif.photo)
        var files = try [ImageFormat.jpeg, .png, .webp].map {
            try photograph.encoded(with: try EncodeOptions($0), metadata: metadata)
        }
        let png = try photograph.encoded(as: .png)
        var late = Array(png.dropLast(12))
        let exif = TestExif.photo
        late.append(pngChunk: "eXIf", [], exif.span)
        files += [late + png.suffix(12), try photograph.encoded(as: .gif)]
        try await withLoopbackOrigin { origin in
            for (index, file) in files.enumerated() {
                origin.route("/\(index)", LoopbackOrigin.Response(body: file))
            }
            try await body((0...files.count).map { origin.url("/\($0)") }.joined(separator: "\n"))
        }
    }

    @Test(arguments: [[], ["--format", "original"], ["--max-pixel-size", "16"], ["--format", "webp"]])
    func recordsHaveTheExifDataOfTheSources(options: [String]) async throws {
        try await withList { list in
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--ordered", "--exif"] + options, input: list)
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.code) == [nil, nil, nil, nil, nil, "http_404"])
            #expect(frames.map { $0.object["exif"] as? String } == Array(repeating: expected, count: 4) + [nil, nil])
            #expect(frames.suffix(2).allSatisfy { $0.object["exif"] is NSNull })
        }
    }

    @Test func shardsHaveTheColumnOnlyOnRequest() async throws {
        try await withList { list in
            try await withTemporaryFolder { folder in
                let options = ["batch", "--input", "-", "--max-pixel-size", "16", "--output", folder + "/a"]
                #expect(try await Command.run(options + ["--exif"], input: list).status == 0)
                let path = "\(folder)/a/00000"
                let column = try #require(expected).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                let records = try String(contentsOfFile: "\(path).jsonl", encoding: .utf8)
                #expect(records.contains("\"exif\":\"\(column)\""))
                let sample = try await Command.run([], by: "tar xOf \(path).tar 000000000.json").output
                #expect(sample.contains("\"exif\":\"\(column)\""))
                // Another run of the folder must agree.
                #expect(try await Command.run(options, input: list).status == 65)

                let without = ["batch", "--input", "-", "--max-pixel-size", "16", "--output", folder + "/b"]
                #expect(try await Command.run(without, input: list).status == 0)
                #expect(!(try String(contentsOfFile: "\(folder)/b/00000.jsonl", encoding: .utf8)).contains("exif"))
            }
        }
    }

    @Test func headersAloneHaveNoExifData() throws {
        do {
            _ = try BatchCommand.parse(["--input", "-", "--output", "-", "--header-only", "--exif"])
            Issue.record("accepted")
        } catch {
            #expect(BatchCommand.message(for: error).hasPrefix("--header-only and --exif cannot be combined"))
        }
    }
}
