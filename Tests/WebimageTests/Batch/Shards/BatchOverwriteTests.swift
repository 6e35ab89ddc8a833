import AsyncWebImage
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --overwrite`, which keeps each complete shard until its new version is complete.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(4))
)
struct BatchOverwriteTests {
    typealias Response = LoopbackOrigin.Response
    typealias Site = BatchRetryTests.Site

    private func withSite(_ count: Int = 50, _ body: (Site) async throws -> Void) async throws {
        try await BatchRetryTests().withSite(count, body)
    }

    private func contents(_ folder: String, without excluded: [String] = []) throws -> [String: Data] {
        try BatchRetryTests().contents(folder, without: excluded)
    }

    private func object(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { String($0) }
    }

    private func verify(_ folder: String) async throws -> Command.Result {
        try await Command.run(["batch", "--verify", folder])
    }

    @Test(arguments: ["webdataset", "files", "none"]) func outageLeavesTheEarlierVersion(format: String) async throws {
        try await withSite { site in
            let options = ["--output-format", format]
            #expect(try await site.run(options).status == 0)
            let before = try contents(site.folder)
            site.origin.route("/*", Response(status: 503))
            site.origin.route("/ok/*", Response(status: 503))
            let result = try await site.run(options + ["--overwrite"])
            #expect(result.status == 75)
            #expect(result.errors.contains("3 shards are not complete, or not written again"), "\(result.errors)")
            #expect(result.errors.contains("http_503: "), "\(result.errors)")
            #expect(try contents(site.folder) == before)
            // They are still complete.
            let requests = site.origin.counts.totalRequests
            #expect(try await site.run(options).status == 0)
            #expect(site.origin.counts.totalRequests == requests)
        }
    }

    @Test(arguments: ["webdataset", "files", "none"])
    func overwrittenShardsAreThoseOfAnotherRun(format: String) async throws {
        try await withSite(40) { site in
            let options = ["--output-format", format]
            #expect(try await site.run(options).status == 0)
            site.setBusy(false)
            let requests = site.origin.counts.totalRequests
            let result = try await site.run(options + ["--overwrite"])
            #expect(result.status == 0)
            #expect(site.origin.counts.totalRequests == requests + 40)
            let other = site.folder + "-other"
            #expect(try await site.run(options, into: other).status == 0)
            let details = [".jsonl", "_stats.json"]
            #expect(try contents(site.folder, without: details) == (try contents(other, without: details)))
            #expect(try await verify(site.folder).status == 0)
            #expect(try object(site.folder + "/00001_stats.json")["successes"] as? Int == 18)
        }
    }

    @Test func killedRunLeavesEveryShardInOneOfItsVersions() async throws {
        try await withSite(100) { site in
            #expect(try await site.run().status == 0)
            site.setBusy(false)
            for attempt in 1...6 {
                let before = site.origin.counts.totalRequests
                let result = try await site.run(["--overwrite", "--concurrency", "4"]) { command in
                    while site.origin.counts.totalRequests < before + attempt * 15,
                        await !command.ends(within: .milliseconds(1))
                    {}
                    command.send(SIGKILL)
                }
                #expect([137, 0].contains(result.status))
                let markers = try FileManager.default.contentsOfDirectory(atPath: site.folder)
                    .filter { $0.contains("_stats.json") && !$0.hasSuffix(".part") }
                    .map { $0.drop { $0 == "." }.prefix(5) }
                #expect(Set(markers).count == 5)
            }
            // Completes what has been decided.
            #expect(try await site.run().status == 0)
            let verified = try await verify(site.folder)
            #expect(verified.status == 0, "\(verified.output)")
        }
    }

    @Test func fullDiskLeavesTheEarlierVersion() async throws {
        try await withSite(200) { site in
            let options = [
                "batch", "--input", "-", "--output", site.folder, "--samples-per-shard", "100", "--max-pixel-size",
                "32",
                "--retries", "0",
            ]
            #expect(try await Command.run(options, input: site.list).status == 0)
            let before = try contents(site.folder)
            // An archive of this list has about 200 KiB.
            let result = try await Command.run(
                options + ["--overwrite"], input: site.list, by: "ulimit -f 64; exec \"$@\"")
            #expect(result.status == 74)
            #expect(try contents(site.folder) == before)
        }
    }

    @Test func foreignFileInAFolderStopsItsReplacement() async throws {
        try await withSite(20) { site in
            let options = ["--output-format", "files"]
            #expect(try await site.run(options).status == 0)
            try Data("x".utf8).write(to: URL(fileURLWithPath: site.folder + "/00000/notes"))
            let before = try contents(site.folder)
            let result = try await site.run(options + ["--overwrite"])
            #expect(result.status == 74)
            #expect(result.errors.contains("notes"), "\(result.errors)")
            #expect(try contents(site.folder) == before)
        }
    }

    @Test(arguments: [
        ("webdataset", "truncate -s 600 00001.tar"), ("webdataset", "rm 00001.jsonl"), ("none", "rm 00001.jsonl"),
        ("files", "rm 00001/0000105.jpg"), ("files", "rm -r 00001"),
    ])
    func shardWithAMissingOrCutFileIsMadeAgain(format: String, damage: String) async throws {
        try await withSite { site in
            let options = ["--output-format", format]
            #expect(try await site.run(options).status == 0)
            let excluded = [".jsonl", "_stats.json"]
            let before = try contents(site.folder, without: excluded)
            _ = try await Command.run([], by: "cd \(site.folder) && \(damage)")
            let damaged = try contents(site.folder)
            #expect(try await verify(site.folder).status == 1)

            // Neither another list nor an outage costs what is left.
            let other = site.list.replacing("/ok/25", with: "/ok/other")
            #expect(try await site.run(options, list: other).status == 65)
            #expect(try contents(site.folder) == damaged)
            site.origin.route("/ok/*", Response(status: 503))
            #expect(try await site.run(options).status == 75)
            #expect(try contents(site.folder) == damaged)

            site.origin.route("/ok/*", Response(body: site.photograph))
            let requests = site.origin.counts.totalRequests
            let result = try await site.run(options)
            #expect(result.status == 0)
            #expect(result.errors.contains("\(site.folder)/00001") && result.errors.contains("is made again"))
            #expect(site.origin.counts.totalRequests == requests + 20)
            #expect(try contents(site.folder, without: excluded) == before)
            #expect(try await verify(site.folder).status == 0)
        }
    }

    @Test func filesThatACommandMayHaveMovedAreNotLookedFor() async throws {
        try await withSite(20) { site in
            #expect(try await site.run(["--post-shard", "rm \"$@\""]).status == 0)
            let requests = site.origin.counts.totalRequests
            #expect(try await site.run().status == 0)
            #expect(site.origin.counts.totalRequests == requests)
            let other = site.folder + "-other"
            #expect(try await site.run(into: other).status == 0)
            try FileManager.default.removeItem(atPath: other + "/00000.tar")
            #expect(try await site.run(["--post-shard", "true"], into: other).status == 0)
            #expect(site.origin.counts.totalRequests == requests + 20)
        }
    }

    @Test func linesThatAreNotStoredAreListed() async throws {
        try await withSite(40) { site in
            for line in [3, 13] { site.origin.route("/busy/\(line)", Response(body: site.photograph)) }
            let again = site.folder + "-again"
            let result = try await site.run(["--max-retryable-rate", "0.05", "--failed-to", again])
            #expect(result.status == 75)
            // Two of the lines of the second shard fail; those of the first are stored.
            let expected = site.list.split(separator: "\n").dropFirst(20).map { String($0) }
            #expect(try lines(again).sorted() == expected.sorted())
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder).allSatisfy { !$0.hasPrefix(".") })
        }
    }

    @Test func linesOfAnInterruptedShardAreListed() async throws {
        try await withSite(30) { site in
            site.origin.route("/ok/25", Response(body: site.photograph).stalled(at: .body(10)))
            let again = site.folder + "-again"
            let result = try await site.run(["--grace", "0", "--failed-to", again]) { command in
                await site.origin.counts { $0.totalRequests == 30 }
                while !FileManager.default.fileExists(atPath: site.folder + "/00000_stats.json"),
                    await !command.ends(within: .milliseconds(5))
                {}
                command.send(SIGTERM)
            }
            #expect(result.status == 143)
            let entries = site.list.split(separator: "\n").map { String($0) }
            let busy = entries[..<20].filter { $0.contains("/busy/") }
            #expect(try lines(again).sorted() == (busy + entries[20...]).sorted())
        }
    }

    @Test func anotherListThatReplacesNothingIsNotTheFirst() async throws {
        try await withSite(40) { site in
            #expect(try await site.run().status == 0)
            let (list, before) = (site.folder + "/00000_list.json", try contents(site.folder))
            let failing = (0..<40).map { site.origin.url("/down/\($0)") }.joined(separator: "\n")
            site.origin.route("/down/*", Response(status: 503))
            #expect(try await site.run(["--overwrite"], list: failing).status == 75)
            #expect(try contents(site.folder) == before)
            site.origin.route("/down/*", Response(body: site.photograph))
            #expect(try await site.run(["--overwrite"], list: failing).status == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: list)) != before["00000_list.json"])
        }
    }

    @Test func shardsThatRemainOfALongerListAreTold() async throws {
        try await withSite { site in
            #expect(try await site.run().status == 0)
            let short = site.list.split(separator: "\n").prefix(20).reversed().joined(separator: "\n")
            let result = try await site.run(["--overwrite"], list: short)
            #expect(result.status == 0)
            #expect(result.errors.contains("2 shards of an earlier list remain in \(site.folder), from 00001 on"))
            #expect(try await !site.run(["--overwrite"]).errors.contains("remain"))
        }
    }

    @Test func shardWhoseMarkerDescribesNoFilesIsMadeAgain() async throws {
        try await withSite(20) { site in
            #expect(try await site.run().status == 0)
            let path = site.folder + "/00000_stats.json"
            let marker = try String(contentsOfFile: path, encoding: .utf8)
            let start = try #require(marker.range(of: "\"files\":{"))
            let end = try #require(marker.range(of: "}}", range: start.upperBound..<marker.endIndex))
            let changed = marker.replacingCharacters(in: start.upperBound..<end.upperBound, with: "}")
            try Data(changed.utf8).write(to: URL(fileURLWithPath: path))
            let result = try await site.run()
            #expect(result.status == 0)
            #expect(result.errors.contains("00000.tar: the marker does not describe it: the shard is made again"))
            #expect(try await verify(site.folder).status == 0)
        }
    }

    @Test func failedLinesOfCSVContainNoFieldWithoutItsEnd() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", Response(status: 503))
            try await withTemporaryFolder { folder in
                let urls = (1...4).map { origin.url("/\($0)") }
                let list =
                    "url,title\n\(urls[0]),\"one\"\n\(urls[1]),\"two\"\n\(urls[2]),three\n\(urls[3]),\"stray\n"
                let failed = folder + "/failed.csv"
                let arguments = ["batch", "--input", "-", "--input-format", "csv", "--output", folder + "/shards"]
                let options = ["--retries", "0", "--max-retryable-rate", "0.1", "--failed-to", failed]
                #expect(try await Command.run(arguments + options, input: list).status == 75)
                let again = try lines(failed)
                #expect(again.count == 4 && again[0] == "url,title" && !again.joined().contains("stray"))
            }
        }
    }

    @Test func aFewTLSFailuresAreNoOutage() {
        var statistics = BatchStatistics()
        for _ in 0..<9 {
            var record = BatchRecord(entry: ListEntry(index: 0, line: RawLine()))
            record.failure = ImageFailure(.tls, "")
            statistics.add(record)
        }
        #expect(OpenShard.Conditions(maximumRetryableRate: 0.5).areMet(by: statistics))
    }

    @Test(arguments: [(18, true), (17, false)]) func nearlyOnlyTLSFailuresAreAnOutage(count: Int, isOutage: Bool) {
        var statistics = BatchStatistics()
        for index in 0..<20 {
            var record = BatchRecord(entry: ListEntry(index: index, line: RawLine()))
            if index < count { record.failure = ImageFailure(.tls, "") }
            statistics.add(record)
        }
        #expect(OpenShard.Conditions(maximumRetryableRate: 0.5).areMet(by: statistics) == !isOutage)
        #expect(OpenShard.Conditions(maximumRetryableRate: 1).areMet(by: statistics))
    }
}
