import AsyncWebImage
import Foundation
import Hashing
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch`, as a program starts it.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchCommandTests {
    typealias Response = LoopbackOrigin.Response

    private let arguments = ["batch", "--input", "-", "--output", "-"]

    private func photograph(_ format: ImageFormat = .jpeg) throws -> [UInt8] {
        try #require(testPhotograph).encoded(as: format)
    }

    @Test func everyLineGetsOneRecordWithItsIdentifier() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/ok/*", Response(body: file))
            var lines: [[UInt8]] = []
            var identifiers: [String] = []
            for number in 0..<500 {
                let path = number % 5 == 0 ? "/missing" : "/ok/\(number)"
                lines.append(Array(#"{"id":"a\#(number)","url":"\#(origin.url(path))"}"#.utf8))
                identifiers.append("a\(number)")
                if number % 50 == 0 { lines += [[], Array(" \t".utf8)] }
            }
            // One URL three times.
            for number in 0..<3 { lines.append(Array(#"{"id":\#(number),"url":"\#(origin.url("/ok/same"))"}"#.utf8)) }
            let bad: [[UInt8]] = [
                Array("# comment".utf8), Array("{\"id\":\"bad\"}".utf8), [0xFF, 0xFE],
                [UInt8](repeating: 0x78, count: 2 << 20),
                Array("not json\t".utf8),
            ]
            let indexes = (0..<5).map { 503 + $0 }
            lines += bad
            let result = try await Command.run(arguments, input: Array(lines.joined(separator: [0x0A])))
            let output = try BatchFrames(result.outputBytes)
            let expected = identifiers + ["0", "1", "2"] + indexes.map { $0 == 504 ? "bad" : "\($0)" }
            #expect(output.frames.map(\.id).sorted() == expected.sorted())
            #expect(result.status == 0)
            #expect(output.start?["protocol"] as? Int == 1)
            let counts = try #require(output.end?["status_dict"] as? [String: Int])
            #expect(counts == ["success": 403, "http_404": 100, "bad_line": 5])
            #expect(output.end?["count"] as? Int == 508)
            #expect(output.end?["successes"] as? Int == 403)
            #expect(output.end?["failed_to_download"] as? Int == 105)
        }
    }

    @Test func streamOfUnreadableListHasNoEnd() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            // The header of gzip data, and nothing else.
            let list = folder + "/list.txt.gz"
            try Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]).write(to: URL(fileURLWithPath: list))
            let result = try await Command.run(["batch", "--input", list, "--output", "-", "--stats-interval", "0"])
            #expect(result.status == 74)
            #expect(result.errors.contains("ends before its gzip data is complete"))
            let output = try BatchFrames(result.outputBytes)
            #expect(output.frames.isEmpty && output.end == nil)
        }
    }

    @Test func framesContainTheFileAndItsDigest() async throws {
        let file = try photograph(.png)
        try await withLoopbackOrigin { origin in
            origin.route("/a.png", Response(headerFields: ["ETag": "\"e\""], body: file))
            origin.route("/moved", .redirect(to: origin.url("/a.png")))
            let list = "\(origin.url("/a.png"))\n\(origin.url("/moved"))\n"
            var digest = try MessageDigest(.sha256)
            digest.update(file)
            let sum = try digest.finish().hexadecimal

            let original = try BatchFrames(try await Command.run(arguments + ["--ordered"], input: list).outputBytes)
            #expect(original.frames.map(\.file) == [file, file])
            let small = try await Command.run(arguments + ["--ordered", "--max-pixel-size", "48"], input: list)
            let converted = try BatchFrames(small.outputBytes)
            for frame in converted.frames {
                #expect(ImageFormat(signature: frame.file.span) == .jpeg)
                #expect(frame.object["sha256"] as? String == sum)
                #expect(frame.object["width"] as? Int == 48 && frame.object["height"] as? Int == 32)
                #expect(frame.object["original_width"] as? Int == 96)
                #expect(frame.object["bytes"] as? Int == frame.file.count)
                #expect(frame.object["original_bytes"] as? Int == file.count)
                #expect(frame.object["format"] as? String == "png")
                #expect(frame.object["etag"] as? String == "\"e\"")
                #expect(frame.object["http_status"] as? Int == 200)
                #expect(frame.object["retryable"] is NSNull && frame.code == nil)
            }
            #expect(converted.frames.map { $0.object["final_url"] as? String } == [nil, origin.url("/a.png")])
        }
    }

    @Test func identifiersAndPassedOnMembersAreEchoedByteForByte() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", Response(body: try photograph()))
            let line = #"{ "score":1.50, "id":12345678901234567890123, "url":"\#(origin.url("/a"))", "t":"\u00e9" }"#
            let result = try await Command.run(arguments + ["--echo"], input: line)
            let frame = try #require(try BatchFrames(result.outputBytes).frames.first)
            #expect(frame.line.hasPrefix(#"{"score":1.50,"t":"\u00e9","id":12345678901234567890123,"index":0,"#))
        }
    }

    @Test func expectedDigestsAreCompared() async throws {
        let file = try photograph()
        var digest = try MessageDigest(.md5)
        digest.update(file)
        let sum = try digest.finish().hexadecimal
        try await withLoopbackOrigin { origin in
            origin.route("/a", Response(body: file))
            let url = origin.url("/a")
            let list = "url,id,md5\n\(url),right,\(sum.uppercased())\n\(url),wrong,00\n\(url),none,\n"
            let result = try await Command.run(
                arguments + ["--input-format", "csv", "--verify-hash", "md5", "--compute-hash", "md5", "--ordered"],
                input: list)
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.id) == ["right", "wrong", "none"])
            #expect(frames.map(\.code) == [nil, "hash_mismatch", nil])
            #expect(frames.map { $0.file.isEmpty } == [false, true, false])
            #expect(frames.first?.object["md5"] as? String == sum)
        }
    }

    @Test func digestsThatDifferCannotBeBothComputedAndVerified() async throws {
        let result = try await Command.run(arguments + ["--verify-hash", "md5"], input: "")
        #expect(result.status == 64)
        #expect(result.errors.contains("--compute-hash"))
    }

    @Test func imageRulesAreAppliedBeforeTheBodyIsRead() async throws {
        let small = try photograph()
        let allowance = 1 << 20
        let large = small + [UInt8](repeating: 0, count: 8 << 20)
        try await withLoopbackOrigin { origin in
            origin.route("/small", Response(body: large))
            origin.route("/noai", Response(headerFields: ["X-Robots-Tag": "noai"], body: large))
            origin.route("/html", Response(body: Array("<html>".utf8) + large))
            let list = ["/small", "/noai", "/html"].map { origin.url($0) }.joined(separator: "\n")
            let result = try await Command.run(
                arguments + ["--ordered", "--min-image-size", "65", "--max-pixel-size", "10"], input: list)
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.code) == ["too_small", "robots_tag", "not_an_image"])
            #expect(frames.map(\.status) == ["failed_to_resize", "failed_to_download", "failed_to_resize"])
            #expect(frames.first?.object["original_width"] as? Int == 96)
            #expect(frames[1].object["original_bytes"] is NSNull)
            for path in ["/small", "/noai", "/html"] {
                #expect(origin.counts.bodyBytesSent[path, default: 0] < 8 * allowance)
            }
            let all = try await Command.run(
                arguments + ["--disallowed-header-directives", "", "--max-pixel-size", "10"], input: origin.url("/noai")
            )
            #expect(try BatchFrames(all.outputBytes).frames.map(\.code) == [nil])
        }
    }

    @Test func publicOnlyRejectsPrivateAddresses() async throws {
        try await withLoopbackOrigin { origin in
            let list = (0..<20).map { origin.url("/\($0)") }.joined(separator: "\n")
            let result = try await Command.run(arguments + ["--public-only"], input: list)
            #expect(Set(try BatchFrames(result.outputBytes).frames.map(\.code)) == ["policy"])
            #expect(result.status == 0)
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func batchAnswersURLWithinItsDeadline() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/stalled", Response(body: file).stalled(at: .body(10)))
            origin.route("/drip", Response(body: file).paced(bytesPerSecond: 20, chunk: 1))
            origin.route("/loop", .redirect(to: origin.url("/loop")))
            origin.route("/busy", Response(status: 503, headerFields: ["Retry-After": "30"]))
            let list = ["/stalled", "/drip", "/loop", "/busy"].map { origin.url($0) }.joined(separator: "\n")
            let result = try await Command.run(arguments + ["--deadline", "1", "--ordered"], input: list)
            let frames = try BatchFrames(result.outputBytes).frames
            #expect(frames.map(\.code) == ["deadline", "deadline", "redirects", "deadline"])
            #expect(frames.map { $0.object["retryable"] as? Bool } == [true, true, false, true])
            #expect(result.status == 0)
        }
    }

    @Test func waitingForARetryTakesNoTransfer() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/busy/*", Response(status: 503, headerFields: ["Retry-After": "50"]))
            origin.route("/ok/*", Response(body: file))
            let busy = (0..<20).map { origin.url("/busy/\($0)") }
            let fine = (0..<20).map { origin.url("/ok/\($0)") }
            let result = try await Command.run(
                arguments + ["--concurrency", "1", "--stats-interval", "0"],
                input: (busy + fine).joined(separator: "\n")
            ) { command in
                // All of them while those before wait for their retry, which is much later.
                await origin.counts { counts in
                    (0..<20).allSatisfy { counts.requests["/ok/\($0)", default: 0] == 1 }
                }
                command.interrupt()
            }
            let output = try BatchFrames(result.outputBytes)
            #expect(output.frames.count == 40)
            let counts = try #require(output.end?["status_dict"] as? [String: Int])
            #expect(counts["cancelled", default: 0] + counts["success", default: 0] == 40)
            #expect(counts["cancelled", default: 0] >= 20)
            #expect(result.status == 130)
        }
    }

    @Test func interruptionAnswersReadLinesAndFinishesTransfers() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            // Lines may start in another order, and the third may start before the command has noticed the signal.
            origin.route(
                "/image",
                [
                    Response(body: file).held(at: .body(10), until: gate),
                    Response(body: file).stalled(at: .body(10)),
                ])
            let list = (0..<3).map { origin.url("/image?\($0)") }.joined(separator: "\n")
            let result = try await Command.run(arguments + ["--concurrency", "2", "--grace", "10"], input: list) {
                command in
                await origin.bodyBytesSent(to: "/image", reach: 20)
                command.send(SIGTERM)
                gate.open()
            }
            let output = try BatchFrames(result.outputBytes)
            #expect(output.frames.map { $0.code ?? "success" }.sorted() == ["cancelled", "cancelled", "success"])
            #expect(output.end?["count"] as? Int == 3)
            #expect(result.status == 143)
        }
    }

    @Test func closedOutputEndsTheRun() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/never", Response(body: try photograph()).stalled(at: .start))
            // Before there is anything to write.
            let result = try await Command.run(arguments, input: origin.url("/never"), closesOutput: true)
            #expect(result.status == 74)
            #expect(result.errors.contains("Broken pipe"))
        }
    }

    @Test func unreadOutputStopsFurtherRequests() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/i/*", Response(body: file))
            let list = (0..<400).map { origin.url("/i/\($0)") }.joined(separator: "\n")
            // `head` reads one block; the rest waits in the pipe, and then in the command.
            let script = """
                mkfifo f; (head -c 100 > /dev/null; while [ ! -e go ]; do sleep 0.1; done; cat > rest) < f & \
                "$@" > f; status=$?; wait; exit $status
                """
            try await withTemporaryFolder { folder in
                let result = try await Command.run(
                    arguments + ["--lookahead", "20", "--concurrency", "4"], input: list, by: "cd \(folder); \(script)"
                ) { command in
                    // The pipe holds 64 KiB, of which each record takes more than 3 kB.
                    await origin.counts { $0.totalRequests >= 20 }
                    #expect(await !command.ends(within: .seconds(1)))
                    #expect(origin.counts.totalRequests <= 20 + 4 + (64 << 10) / 3_000 + 3)
                    #expect(FileManager.default.createFile(atPath: folder + "/go", contents: nil))
                }
                #expect(result.status == 0)
                #expect(origin.counts.totalRequests == 400)
            }
        }
    }

    @Test func retryableLinesAreWrittenToAFile() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/busy", Response(status: 503))
            try await withTemporaryFolder { folder in
                let list = "url,n\n\(origin.url("/missing")),1\n\(origin.url("/busy")),\"2\n3\"\nx,4\n"
                let path = folder + "/again.csv"
                let result = try await Command.run(
                    arguments + ["--input-format", "csv", "--failed-to", path, "--retries", "0"], input: list)
                #expect(result.status == 0)
                let again = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
                #expect(again == "url,n\n\(origin.url("/busy")),\"2\n3\"\n")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["again.csv"])
            }
        }
    }

    @Test func linesOfJSONCanContainTheFile() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/a", Response(body: file))
            let result = try await Command.run(
                arguments + ["--stream", "ndjson", "--payload", "base64", "--ordered"],
                input: "\(origin.url("/a"))\n\(origin.url("/b"))")
            let objects = try result.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(objects.count == 2)
            #expect(objects.first?["payload"] as? String == Data(file).base64EncodedString())
            #expect(objects.last?["payload"] is NSNull)
        }
    }

    @Test func anArchiveHasTheSuccessfulSamples() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/a", Response(body: file))
            try await withTemporaryFolder { folder in
                let lines = ["/a", "/b", "/a"].map { #"{"url":"\#(origin.url($0))","text":"t","n":1}"# }
                let result = try await Command.run(
                    arguments + [
                        "--stream", "tar", "--log", folder + "/log", "--caption-col", "text", "--samples-per-shard",
                        "2",
                        "--ordered",
                    ], input: lines.joined(separator: "\n"), by: "\"$@\" > \(folder)/a.tar && tar tf \(folder)/a.tar")
                #expect(result.status == 0)
                #expect(
                    result.output.split(separator: "\n") == [
                        "000000.jpg", "000000.json", "000000.txt", "000010.jpg", "000010.json", "000010.txt",
                    ])
                let log = String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder + "/log")), as: UTF8.self)
                #expect(log.split(separator: "\n").count == 3)
            }
        }
    }

    @Test func failureSetsExitStatusWithFailOnError() async throws {
        let result = try await Command.run(arguments + ["--fail-on-error"], input: "x\n")
        #expect(result.status == 1)
        #expect(try BatchFrames(result.outputBytes).frames.map(\.code) == ["invalid_url"])
    }

    @Test func emptyListProducesOnlyTheEndFrame() async throws {
        let output = try BatchFrames(try await Command.run(arguments, input: "\n\n").outputBytes)
        #expect(output.frames.isEmpty)
        #expect(output.end?["count"] as? Int == 0)
    }

    @Test(arguments: ["url,status\n", "link\n"])
    func columnsThatCannotBeUsedAreAnError(list: String) async throws {
        let result = try await Command.run(arguments + ["--input-format", "csv", "--echo"], input: list)
        #expect(result.status == 64)
        #expect(result.errors.contains("column"))
    }

    @Test func progressIsReportedAsJSON() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", Response(body: try photograph()).held(at: .start, until: gate))
            let result = try await Command.run(
                arguments + ["--stats-interval", "0.05"], input: "x\n\(origin.url("/a"))\n"
            ) { command in
                await origin.requests(to: "/a", reach: 1)
                _ = await command.ends(within: .seconds(2))
                gate.open()
            }
            let lines = try result.errors.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let waiting = try #require(lines.first { $0["done"] as? Int == 1 && $0["open"] as? Int == 1 })
            #expect(waiting["failed"] as? [String: Int] == ["invalid_url": 1])
            #expect((waiting["rss"] as? Int ?? 0) > 1_000_000)
            // Its address needs no lookup.
            #expect(waiting["waiting_dns"] as? Int == 0)
        }
    }

    @Test func progressReportsWhyLinesWait() async throws {
        try await withLoopbackOrigin { origin in
            // The same response for every line, because they need not start in the order of the list.
            origin.route("/dead", Response(status: 503, headerFields: ["Retry-After": "30"]))
            let lines = (1...4).map { origin.url("/dead?\($0)") }.joined(separator: "\n")
            let result = try await Command.run(
                arguments + ["--stats-interval", "0.05", "--rate", "0.5"], input: lines
            ) { command in
                await origin.requests(to: "/dead", reach: 1)
                _ = await command.ends(within: .seconds(2))
                command.interrupt()
            }
            let reports = result.errors.split(separator: "\n").compactMap {
                try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            func count(_ key: String, _ report: [String: Any]) -> Int { report[key] as? Int ?? 0 }
            let isReported = reports.contains { report in
                count("waiting_retry", report) == 1 && count("waiting_rate", report) >= 1
                    && count("waiting", report) >= 2
            }
            #expect(isReported, "\(reports.last ?? [:])")
        }
    }
}
