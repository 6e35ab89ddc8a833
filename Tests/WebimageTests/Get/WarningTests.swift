import AsyncWebImage
import ImageCodecs
import Foundation
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with files that deviate from their format, and with orientations that follow the pixels.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct WarningTests {
    private let photograph = testPhotograph ?? PixelBuffer(transparent: PixelSize(width: 96, height: 64))

    /// A PNG without its end chunk.
    private func cut() throws -> [UInt8] { Array(try photograph.encoded(as: .png).dropLast(12)) }

    /// A PNG and a WebP whose orientation follows the pixels.
    private func turned() throws -> [[UInt8]] {
        let png = try photograph.encoded(as: .png)
        let exif = TestExif.bytes(orientation: 6)
        var late = Array(png.dropLast(12))
        late.append(pngChunk: "eXIf", [], exif.span)
        return [late + png.suffix(12), try photograph.encoded(with: .webp(), metadata: ImageMetadata(exif: exif))]
    }

    private func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test(arguments: [[], ["--format", "png"], ["--max-pixel-size", "20"]])
    func completeFileThatDeviatesFromItsFormatIsWrittenWithAWarning(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            let (path, file) = (folder + "/a.png", try cut())
            try Data(file).write(to: URL(fileURLWithPath: path))
            let result = try await Command.run(["get", "--json", "-o", folder + "/out", path] + options, input: [])
            let object = try #require(try objects(result.output).first)
            #expect(result.status == 0 && object["status"] as? String == "ok")
            #expect(object["warnings"] as? [String] == ["missing_end"])
            if options.isEmpty {
                #expect(try ImageFile(path: folder + "/out/a.png").bytes() == file)
            }
            let strict = try await Command.run(
                ["get", "--json", "--strict", "-o", folder + "/strict", path] + options, input: [])
            #expect(strict.status == 1)
            #expect(
                try objects(strict.output).first?["error"] as? String
                    == "refused by --strict: the end marker is missing")
            #expect(!FileManager.default.fileExists(atPath: folder + "/strict/a.png"))
        }
    }

    @Test func recordHasTheWarningsOfItsImage() async throws {
        let (file, whole) = (try cut(), try photograph.encoded(as: .png))
        try await withLoopbackOrigin { origin in
            origin.route("/cut", LoopbackOrigin.Response(body: file))
            origin.route("/whole", LoopbackOrigin.Response(body: whole))
            let list = ["/cut", "/whole", "/missing"].map { origin.url($0) }.joined(separator: "\n")
            let arguments = ["batch", "--input", "-", "--output", "-", "--ordered"]
            let frames = try BatchFrames(try await Command.run(arguments, input: list).outputBytes).frames
            #expect(frames.map { $0.object["warnings"] as? [String] } == [["missing_end"], [], nil])
            let strict = try await Command.run(arguments + ["--strict"], input: list).outputBytes
            #expect(try BatchFrames(strict).frames.map(\.code) == ["corrupt", nil, "http_404"])
            // A header does not show them.
            let headers = try await Command.run(arguments + ["--header-only"], input: list).outputBytes
            #expect(try BatchFrames(headers).frames.first?.object["warnings"] is NSNull)
        }
    }

    @Test func infoTellsTheOrientationThatAConversionApplies() async throws {
        try await withTemporaryFolder { folder in
            let files = try turned()
            let paths = [folder + "/a.png", folder + "/b.webp"]
            for (path, file) in zip(paths, files) { try Data(file).write(to: URL(fileURLWithPath: path)) }
            let info = try objects(try await Command.run(["info", "--json"] + paths, input: []).output)
            #expect(info.map { $0["orientation"] as? Int } == [6, 6])
            #expect(
                info.map { $0["width"] as? Int } == [96, 96] && info.map { $0["upright_width"] as? Int } == [64, 64])
            for options in [[], ["--format", "png"], ["--format", "original"]] {
                let result = try await Command.run(
                    ["get", "--json", "-o", folder + "/out"] + paths + options, input: [])
                let results = try objects(result.output)
                #expect(results.map { $0["orientation"] as? Int } == [6, 6])
                #expect(results.map { $0["stored_width"] as? Int } == [96, 96])
                #expect(results.map { $0["upright_width"] as? Int } == [64, 64])
            }
        }
    }

    @Test func orientationBehindPixelsThatAreNotDownloadedIsUnknown() async throws {
        let webp = try turned()[1]
        try await withLoopbackOrigin { origin in
            origin.route("/a", LoopbackOrigin.Response(body: webp))
            let info = try objects(try await Command.run(["info", "--json", origin.url("/a")], input: []).output)
            #expect(info.first?["orientation"] is NSNull && info.first?["upright_width"] is NSNull)
            #expect(info.first?["warnings"] is NSNull)
        }
    }
}
