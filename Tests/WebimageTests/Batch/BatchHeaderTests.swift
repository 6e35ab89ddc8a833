import ArgumentParser
import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --header-only`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchHeaderTests {
    private func withList(_ body: (LoopbackOrigin, _ list: String) async throws -> Void) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg) + [UInt8](repeating: 0, count: 8 << 20)
        try await withLoopbackOrigin { origin in
            origin.route("/large", LoopbackOrigin.Response(headerFields: ["ETag": "\"e\""], body: file))
            origin.route("/html", LoopbackOrigin.Response(body: Array("<html>".utf8)))
            try await body(origin, ["/large", "/html", "/missing"].map { origin.url($0) }.joined(separator: "\n"))
        }
    }

    @Test func recordsHaveTheFormatAndTheSizeOfImagesThatAreNotDownloaded() async throws {
        try await withList { origin, list in
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--header-only", "--ordered"], input: list)
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.code) == [nil, "not_an_image", "http_404"])
            let record = try #require(frames.first)
            #expect(record.object["format"] as? String == "jpeg")
            #expect(record.object["original_width"] as? Int == 96 && record.object["original_height"] as? Int == 64)
            #expect(record.object["width"] is NSNull && record.object["bytes"] is NSNull)
            #expect(record.object["etag"] as? String == "\"e\"" && record.object["http_status"] as? Int == 200)
            #expect(record.file.isEmpty && record.object["sha256"] == nil)
            #expect(origin.counts.bodyBytesSent["/large", default: 0] < 8 << 20)
        }
    }

    @Test func headerOnlyFiltersBySize() async throws {
        try await withList { origin, _ in
            let result = try await Command.run(
                ["batch", "--input", "-", "--output", "-", "--header-only", "--min-image-size", "65"],
                input: origin.url("/large"))
            #expect(try BatchFrames(result.outputBytes).frames.map(\.code) == ["too_small"])
        }
    }

    @Test func headerOnlyShardsContainOnlyRecords() async throws {
        try await withList { _, list in
            try await withTemporaryFolder { folder in
                let options = ["batch", "--input", "-", "--output", folder]
                #expect(try await Command.run(options + ["--header-only"], input: list).status == 0)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names == ["00000.jsonl", "00000_list.json", "00000_stats.json", "run.json"])
                #expect(try await Command.run(options + ["--output-format", "none"], input: list).status == 65)
            }
        }
    }

    @Test(arguments: [
        ["--max-pixel-size", "9"], ["--format", "original"], ["--format", "png"], ["--first-frame"],
        ["--verify-hash", "md5"], ["--output", "f", "--output-format", "files"], ["--stream", "tar"],
        ["--stream", "ndjson", "--payload", "base64"],
    ])
    func headerOnlyRejectsOptionsForImages(options: [String]) throws {
        let arguments = ["--input", "-", "--output", "-", "--header-only"] + options
        do {
            _ = try BatchCommand.parse(arguments)
            Issue.record("accepted")
        } catch {
            #expect(BatchCommand.message(for: error).hasPrefix("--header-only"))
        }
    }
}
