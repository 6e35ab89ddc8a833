import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --cache`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchCacheTests {
    typealias Response = LoopbackOrigin.Response

    private func run(_ list: String, _ options: String...) async throws -> [BatchFrames.Frame] {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-", "--ordered"] + options, input: list)
        #expect(result.status == 0, "\(result.errors)")
        return try BatchFrames(result.outputBytes).frames
    }

    /// Runs `body` with an origin whose photographs at `/fresh/*` stay fresh for a day, and a folder for a cache.
    private func withPhotographs(_ body: (LoopbackOrigin, _ cache: String) async throws -> Void) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/fresh/*", Response(headerFields: ["Cache-Control": "max-age=86400"], body: file))
            try await withTemporaryFolder { try await body(origin, $0 + "/cache") }
        }
    }

    @Test func secondBatchRunWithAnotherSizeSendsNoRequests() async throws {
        try await withPhotographs { origin, cache in
            let list = (0..<100).map { origin.url("/fresh/\($0)") }.joined(separator: "\n")
            let first = try await run(list, "--cache", cache, "--max-pixel-size", "48")
            let second = try await run(list, "--cache", cache, "--max-pixel-size", "32")
            #expect(origin.counts.totalRequests == 100)
            #expect(first.map { $0.object["source"] as? String } == Array(repeating: "network", count: 100))
            #expect(second.map { $0.object["source"] as? String } == Array(repeating: "disk", count: 100))
            #expect(second.allSatisfy { $0.object["width"] as? Int == 32 && $0.object["http_status"] as? Int == 200 })
            #expect(second.map { $0.object["sha256"] as? String } == first.map { $0.object["sha256"] as? String })
        }
    }

    /// Ten requests would take a quarter of an hour.
    @Test(arguments: [[], ["--concurrency", "1"]])
    func storedResponsesDoNotWaitForTheRateOfTheirHost(options: [String]) async throws {
        try await withPhotographs { origin, cache in
            let list = (0..<10).map { origin.url("/fresh/\($0)") }.joined(separator: "\n")
            _ = try await run(list, "--cache", cache)
            let arguments =
                ["batch", "--input", "-", "--output", "-", "--ordered", "--cache", cache, "--rate", "0.01"] + options
            let result = try await Command.run(arguments, input: list)
            let second = try BatchFrames(result.outputBytes).frames
            #expect(second.map { $0.object["source"] as? String } == Array(repeating: "disk", count: 10))
            #expect(origin.counts.totalRequests == 10)
        }
    }

    @Test func cachePolicyOptionAppliesToBatch() async throws {
        try await withPhotographs { origin, cache in
            let list = origin.url("/fresh/a")
            let missing = try await run(list, "--cache", cache, "--cache-policy", "cache-only")
            #expect(missing.map(\.code) == ["not_cached"] && origin.counts.totalRequests == 0)
            _ = try await run(list, "--cache", cache)
            let found = try await run(list, "--cache", cache, "--cache-policy", "cache-only")
            #expect(found.map(\.code) == [nil] && origin.counts.totalRequests == 1)
            let again = try await run(list, "--cache", cache, "--cache-policy", "reload")
            #expect(again.map(\.code) == [nil] && origin.counts.totalRequests == 2)
        }
    }

    @Test func xRobotsTagOfAStoredResponseIsHonored() async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            let fields: HeaderFields = ["Cache-Control": "max-age=86400", "X-Robots-Tag": "noai"]
            origin.route("/a", Response(headerFields: fields, body: file))
            try await withTemporaryFolder { folder in
                let cache = folder + "/cache"
                _ = try await run(origin.url("/a"), "--cache", cache, "--disallowed-header-directives", "")
                let refused = try await run(origin.url("/a"), "--cache", cache)
                #expect(refused.map(\.code) == ["robots_tag"])
                #expect(origin.counts.totalRequests == 1)
            }
        }
    }

    @Test func batchResumesAnInterruptedBodyFromTheCache() async throws {
        // Noise, which no format makes smaller than the 16 KiB that are worth keeping.
        var random = SplitMix(seed: 1)
        let pixels = (0..<128 * 128).flatMap { _ in [UInt8(random.next() % 256), UInt8(random.next() % 256), 0, 255] }
        let size = PixelSize(width: 128, height: 128)
        let file = try #require(PixelBuffer(size: size, bytes: pixels)).encoded(as: .png)
        try await withLoopbackOrigin { origin in
            let fields: HeaderFields = ["ETag": "\"a\"", "Accept-Ranges": "bytes"]
            origin.route("/a.png") { request in
                guard let range = request.headerFields["Range"] else {
                    return Response(headerFields: fields, body: file).stalled(at: .body(20_000))
                }
                let start = range.dropFirst("bytes=".count).split(separator: "-").first.flatMap { Int($0) } ?? 0
                return Response(
                    status: 206,
                    headerFields: [
                        "ETag": "\"a\"", "Content-Range": "bytes \(start)-\(file.count - 1)/\(file.count)",
                    ], body: Array(file[start...]))
            }
            try await withTemporaryFolder { folder in
                let arguments = ["batch", "--input", "-", "--output", "-", "--cache", folder + "/cache"]
                let first = try await Command.run(arguments + ["--grace", "0"], input: origin.url("/a.png")) {
                    command in
                    await origin.bodyBytesSent(to: "/a.png", reach: 20_000)
                    // What was sent must also have arrived.
                    #expect(await !command.ends(within: .seconds(1)))
                    command.interrupt()
                }
                #expect(first.status == 130)
                let second = try BatchFrames(try await Command.run(arguments, input: origin.url("/a.png")).outputBytes)
                #expect(second.frames.map(\.file) == [file])
                #expect(origin.recordedRequests.map { $0.headerFields["Range"] == nil } == [true, false])
            }
        }
    }

    @Test func unusableCacheFolderEndsTheBatchRun() async throws {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-", "--cache", "/proc/nowhere"], input: "http://127.0.0.1:1/")
        #expect(result.status == 74)
        #expect(result.errors.contains("cannot use the folder /proc/nowhere as a cache"))
    }
}
