import AsyncWebImage
import Foundation
import ImageCodecs
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with an Ultra HDR JPEG.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct GainMapTests {
    private let map: [UInt8]
    private let file: [UInt8]

    init() throws {
        map = TestGainMap.described(try TestImage.gray(16, 12).encoded(as: .jpeg))
        file = try TestImage.photo(64, 48).encoded(with: .jpeg(), metadata: ImageMetadata(gainMap: map))
    }

    private func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test(
        arguments: [
            ([], "kept"), (["--max-pixel-size", "32"], "dropped"),
            (["--max-pixel-size", "32", "--keep-gain-map"], "kept"),
            (["--fill", "20x20", "--keep-gain-map"], "dropped"), (["--blur", "2", "--keep-gain-map"], "dropped"),
            (["--format", "png"], "dropped"),
            (["--resize-mode", "keep_ratio", "--image-size", "24", "--keep-gain-map"], "kept"),
            (["--resize-mode", "border", "--image-size", "24", "--keep-gain-map"], "dropped"),
        ] as [([String], String)])
    func gainMapOfAnImageThatIsOnlyScaledIsKeptOnRequest(options: [String], fate: String) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a.jpg"
            try Data(file).write(to: URL(fileURLWithPath: path))
            let result = try await Command.run(["get", "--json", "-o", folder + "/out", path] + options, input: [])
            let object = try #require(try objects(result.output).first)
            #expect(result.status == 0 && object["gain_map"] as? String == fate)
            let output = try ImageFile(path: try #require(object["path"] as? String)).bytes()
            #expect(ImageMetadata(file: output.span).gainMap == (fate == "kept" ? map : nil))
        }
    }

    @Test func recordsSayWhatBecameOfTheGainMap() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", LoopbackOrigin.Response(body: file))
            origin.route("/b.jpg", LoopbackOrigin.Response(body: try TestImage.photo(64, 48).encoded(as: .jpeg)))
            let list = "\(origin.url("/a.jpg"))\n\(origin.url("/b.jpg"))\n"
            let arguments = ["batch", "--input", "-", "--output", "-", "--ordered", "--max-pixel-size", "32"]
            for (options, fate) in [([], "dropped"), (["--keep-gain-map"], "kept")] {
                let frames = try BatchFrames(try await Command.run(arguments + options, input: list).outputBytes).frames
                #expect(frames.map { $0.object["gain_map"] as? String } == [fate, nil])
                let output = try #require(frames.first).file
                #expect(ImageMetadata(file: output.span).gainMap == (fate == "kept" ? map : nil))
            }
        }
    }

    @Test func infoNamesTheGainMap() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a.jpg"
            try Data(file).write(to: URL(fileURLWithPath: path))
            let json = try await Command.run(["info", "--json", path], input: [])
            #expect(try objects(json.output).first?["gain_map"] as? Bool == true)
            #expect(try await Command.run(["info", path], input: []).output.contains(", gain map"))
        }
    }
}
