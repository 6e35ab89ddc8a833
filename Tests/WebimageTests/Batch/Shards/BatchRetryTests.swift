import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --retry-failed`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(4))
)
struct BatchRetryTests {
    typealias Response = LoopbackOrigin.Response

    /// A folder of shards with 20 lines each, of which the lines 3, 13, 23, and so on fail with 503 while the origin is
    /// busy, and the lines 9, 19, 29, and so on with 404.
    struct Site {
        let origin: LoopbackOrigin
        let list: String
        let folder: String
        let photograph: [UInt8]

        /// Lets the lines below `/busy/` fail, or succeed.
        func setBusy(_ isBusy: Bool) {
            origin.route("/busy/*", isBusy ? Response(status: 503) : Response(body: photograph))
        }

        func run(
            _ options: [String] = [], list: String? = nil, into other: String? = nil,
            whileRunning: (Command) async throws -> Void = { _ in }
        ) async throws -> Command.Result {
            try await Command.run(
                [
                    "batch", "--input", "-", "--output", other ?? folder, "--samples-per-shard", "20",
                    "--max-pixel-size", "32", "--retries", "0",
                ] + options, input: list ?? self.list, whileRunning: whileRunning)
        }
    }

    func withSite(_ count: Int = 50, _ body: (Site) async throws -> Void) async throws {
        let photograph = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/ok/*", Response(body: photograph))
            let lines = (0..<count).map { number in
                let path = [3: "busy", 9: "missing"][number % 10] ?? "ok"
                return #"{"url":"\#(origin.url("/\(path)/\(number)"))","n":\#(number)}"#
            }
            try await withTemporaryFolder { folder in
                let site = Site(
                    origin: origin, list: lines.joined(separator: "\n"), folder: folder + "/shards",
                    photograph: photograph)
                site.setBusy(true)
                try await body(site)
            }
        }
    }

    /// The files below a folder, by their paths in it.
    func contents(_ folder: String, without excluded: [String] = []) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try #require(FileManager.default.enumerator(atPath: folder)).compactMap({ $0 as? String })
        where !excluded.contains(where: { name.hasSuffix($0) }) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        return contents
    }

    func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { String($0) }
    }

    func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func marker(_ shard: String, in folder: String) throws -> [String: Any] {
        try object(try String(contentsOfFile: "\(folder)/\(shard)_stats.json", encoding: .utf8))
    }

    @Test(arguments: ["webdataset", "files", "none"])
    func retriedShardsAreThoseOfAnUndisturbedRun(format: String) async throws {
        try await withSite { site in
            #expect(try await site.run(["--output-format", format]).status == 0)
            let before = try lines(site.folder + "/00001.jsonl")
            site.setBusy(false)
            let requests = site.origin.counts.totalRequests
            let summary = site.folder + "-summary"
            let result = try await site.run([
                "--output-format", format, "--retry-failed", "--summary", summary, "--failed-to",
                site.folder + "-again",
            ])
            #expect(result.status == 0)
            #expect(site.origin.counts.totalRequests == requests + 5)
            let counts = try object(lines(summary)[0])
            #expect(counts["count"] as? Int == 50 && counts["successes"] as? Int == 45)
            #expect((counts["earlier"] as? [String: Any])?["count"] as? Int == 45)
            #expect(try lines(site.folder + "-again") == [])

            let undisturbed = site.folder + "-undisturbed"
            #expect(try await site.run(["--output-format", format], into: undisturbed).status == 0)
            let runDetails = [".jsonl", "_stats.json"]
            #expect(
                try contents(site.folder, without: runDetails) == (try contents(undisturbed, without: runDetails)))

            let after = try lines(site.folder + "/00001.jsonl")
            #expect(after.count == 20)
            for row in 0..<20 where ![3, 13].contains(row) { #expect(after[row] == before[row]) }
            for row in [3, 13] {
                let record = try object(after[row])
                #expect(record["status"] as? String == "success" && record["index"] as? Int == 20 + row)
            }
            let marker = try marker("00001", in: site.folder)
            let other = try self.marker("00001", in: undisturbed)
            for name in ["count", "successes", "failed_to_download", "failed_to_resize", "retryable"] {
                #expect(marker[name] as? Int == other[name] as? Int)
            }
            #expect(marker["attempt"] as? Int == 2 && other["attempt"] as? Int == 1)
            #expect(marker["status_dict"] as? [String: Int] == ["success": 18, "http_404": 2])
            let files = try #require(marker["files"] as? [String: [String: Any]])
            let sum = try await Command.run([], by: "sha256sum \(site.folder)/00001.jsonl").output.prefix(64)
            #expect(files["00001.jsonl"]?["sha256"] as? String == String(sum))
            if format != "none" {
                let name = format == "files" ? "00001" : "00001.tar"
                let expected = try #require(other["files"] as? [String: [String: Any]])[name]
                #expect(files[name]?["sha256"] as? String == expected?["sha256"] as? String)
                #expect(files[name]?["bytes"] as? Int == expected?["bytes"] as? Int)
            }
            // Nothing is left to do.
            #expect(try await site.run(["--output-format", format, "--retry-failed"]).status == 0)
            #expect(site.origin.counts.totalRequests == requests + 5 + 50)
        }
    }

    @Test func unsortedShardsGetTheRetriedSamplesAtTheirEnd() async throws {
        try await withSite { site in
            #expect(try await site.run(["--unsorted"]).status == 0)
            let before = try contents(site.folder)
            site.setBusy(false)
            #expect(try await site.run(["--unsorted", "--retry-failed"]).status == 0)
            let after = try contents(site.folder)
            let old = try #require(before["00000.tar"]).dropLast(1_024)
            #expect(try #require(after["00000.tar"]).starts(with: old))
            let listing = try await Command.run([], by: "tar tf \(site.folder)/00000.tar").output.split(separator: "\n")
            #expect(listing.count == 36 && Set(listing).count == 36)
            #expect(try lines(site.folder + "/00000.jsonl").count == 20)
            #expect(try marker("00000", in: site.folder)["successes"] as? Int == 18)
        }
    }

    @Test func shardsWithoutRetryableFailuresAreNotTouched() async throws {
        try await withSite(40) { site in
            let list = site.list.split(separator: "\n").enumerated().map { number, line in
                number < 20 ? String(line).replacing("/busy/", with: "/ok/") : String(line)
            }.joined(separator: "\n")
            #expect(try await site.run(list: list).status == 0)
            func identities() throws -> [String] {
                try ["00000.tar", "00000.jsonl", "00000_stats.json"].map { name in
                    let attributes = try FileManager.default.attributesOfItem(atPath: "\(site.folder)/\(name)")
                    return "\(attributes[.systemFileNumber] ?? "") \(attributes[.modificationDate] ?? "")"
                }
            }
            let before = try identities()
            site.setBusy(false)
            let requests = site.origin.counts.totalRequests
            #expect(try await site.run(["--retry-failed"], list: list).status == 0)
            #expect(site.origin.counts.totalRequests == requests + 2)
            #expect(try identities() == before)
            #expect(try marker("00001", in: site.folder)["attempt"] as? Int == 2)
        }
    }

    @Test func shardWhoseLinesAllFailAgainKeepsItsFiles() async throws {
        try await withSite { site in
            #expect(try await site.run().status == 0)
            let before = try contents(site.folder, without: ["_stats.json"])
            let again = site.folder + "-again"
            #expect(try await site.run(["--retry-failed", "--failed-to", again]).status == 0)
            #expect(try contents(site.folder, without: ["_stats.json"]) == before)
            let failing = site.list.split(separator: "\n").map { String($0) }.filter { $0.contains("/busy/") }
            // In the order in which they were answered.
            #expect(try lines(again).sorted() == failing.sorted())
            let marker = try marker("00000", in: site.folder)
            #expect(marker["attempt"] as? Int == 2 && marker["retryable"] as? Int == 2 && marker["count"] as? Int == 20)
            #expect(try #require(marker["files"] as? [String: Any]).keys.sorted() == ["00000.jsonl", "00000.tar"])
            site.setBusy(false)
            #expect(try await site.run(["--retry-failed"]).status == 0)
            #expect(try self.marker("00000", in: site.folder)["attempt"] as? Int == 3)
            #expect(try self.marker("00000", in: site.folder)["successes"] as? Int == 18)
        }
    }

    @Test func conditionsApplyToAllLinesOfARetriedShard() async throws {
        try await withSite(20) { site in
            #expect(try await site.run().status == 0)
            let before = try contents(site.folder)
            site.origin.route("/busy/3", Response(body: site.photograph))
            let strict = try await site.run(["--retry-failed", "--max-retryable-rate", "0.01"])
            #expect(strict.status == 75)
            #expect(strict.errors.contains("1 shard"))
            #expect(try contents(site.folder) == before)
            // One of 20 lines fails now, and one of the 2 that are requested again.
            #expect(try await site.run(["--retry-failed", "--max-retryable-rate", "0.1"]).status == 0)
            #expect(try marker("00000", in: site.folder)["successes"] as? Int == 17)
        }
    }

    /// The hidden files of a replacement that was interrupted: each state has the next of the steps behind it.
    @Test(arguments: ["webdataset", "files"], 0...6)
    func interruptedReplacementLeavesTheOldOrTheNewShard(format: String, step: Int) async throws {
        try await withSite(20) { site in
            let options = ["--output-format", format]
            #expect(try await site.run(options).status == 0)
            let images = format == "files" ? "00000" : "00000.tar"
            let before = try contents(site.folder)
            let new = site.folder + "-new"
            try FileManager.default.copyItem(atPath: site.folder, toPath: new)
            site.setBusy(false)
            #expect(try await site.run(options + ["--retry-failed"], into: new).status == 0)
            let after = try contents(new)
            #expect(before != after)

            func place(_ name: String, as other: String) throws {
                try? FileManager.default.removeItem(atPath: "\(site.folder)/\(other)")
                try FileManager.default.copyItem(atPath: "\(new)/\(name)", toPath: "\(site.folder)/\(other)")
            }
            func move(_ name: String) throws {
                try place(name, as: name)
                try FileManager.default.removeItem(atPath: "\(site.folder)/.\(name).new")
            }
            let steps: [() throws -> Void] = [
                { try place(images, as: ".\(images).new") },
                { try place("00000.jsonl", as: ".00000.jsonl.new") },
                { try place("00000_stats.json", as: ".00000_stats.json.new") },
                { try FileManager.default.removeItem(atPath: "\(site.folder)/00000_stats.json") },
                { try move(images) },
                { try move("00000.jsonl") },
            ]
            for step in steps.prefix(step) { try step() }
            try Data().write(to: URL(fileURLWithPath: "\(site.folder)/.00000.lock"))
            let requests = site.origin.counts.totalRequests
            // A run without --retry-failed suffices.
            #expect(try await site.run(options).status == 0)
            #expect(site.origin.counts.totalRequests == requests)
            #expect(try contents(site.folder) == (step < 3 ? before : after))
        }
    }

    @Test func killedRetriesLeaveOnlyCompleteShards() async throws {
        try await withSite(200) { site in
            #expect(try await site.run(["--output-format", "files"]).status == 0)
            site.setBusy(false)
            let undisturbed = site.folder + "-undisturbed"
            #expect(try await site.run(["--output-format", "files"], into: undisturbed).status == 0)
            let before = try contents(site.folder)
            let after = try contents(undisturbed)
            func isShard(_ name: String, _ version: [String: Data]) throws -> Bool {
                try contents(site.folder).filter { $0.key.hasPrefix(name + "/") }
                    == version.filter { $0.key.hasPrefix(name + "/") }
            }
            for attempt in 1...8 {
                let requests = site.origin.counts.totalRequests
                _ = try await site.run(["--output-format", "files", "--retry-failed", "--concurrency", "2"]) {
                    command in
                    while site.origin.counts.totalRequests < requests + attempt,
                        await !command.ends(within: .milliseconds(1))
                    {}
                    command.send(SIGKILL)
                }
                for shard in (0..<10).map({ "0000\($0)" })
                where FileManager.default.fileExists(atPath: "\(site.folder)/\(shard)_stats.json") {
                    let isWhole = try isShard(shard, before) || isShard(shard, after)
                    #expect(isWhole)
                }
            }
            #expect(try await site.run(["--output-format", "files", "--retry-failed"]).status == 0)
            let runDetails = [".jsonl", "_stats.json"]
            #expect(
                try contents(site.folder, without: runDetails) == (try contents(undisturbed, without: runDetails)))
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder).filter { $0.hasPrefix(".") } == [])
        }
    }

    @Test func commandThatFailsForARetriedShardIsRunAgain() async throws {
        try await withSite(20) { site in
            #expect(try await site.run().status == 0)
            site.setBusy(false)
            let failing = try await site.run(["--retry-failed", "--post-shard", "exit 1"])
            #expect(failing.status == 74)
            let requests = site.origin.counts.totalRequests
            let log = site.folder + "-log"
            #expect(try await site.run(["--post-shard", "echo \"$@\" >> \(log)"]).status == 0)
            #expect(site.origin.counts.totalRequests == requests)
            #expect(try lines(log) == ["\(site.folder)/00000.tar \(site.folder)/00000.jsonl"])
            #expect(try marker("00000", in: site.folder)["successes"] as? Int == 18)
        }
    }

    @Test func processesThatRetryOneFolderRequestEachLineOnce() async throws {
        try await withSite(300) { site in
            #expect(try await site.run().status == 0)
            let requests = site.origin.counts.totalRequests
            // Some lines fail again; even so, their shards count as retried.
            for path in stride(from: 3, to: 300, by: 20) {
                site.origin.route("/busy/\(path)", Response(body: site.photograph))
            }
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await site.run(["--retry-failed", "--claim", "--concurrency", "2"]).status
                    }
                }
                for try await status in group { #expect(status == 0) }
            }
            // A process that is started late finds shards that were retried before, whose lines may fail again.
            let counts = site.origin.counts
            #expect(counts.totalRequests >= requests + 30)
            for path in stride(from: 3, to: 300, by: 20) { #expect(counts.requests["/busy/\(path)"] == 2) }
            for shard in 0..<15 {
                let name = shard < 10 ? "0000\(shard)" : "000\(shard)"
                #expect(try marker(name, in: site.folder)["successes"] as? Int == 17)
            }
        }
    }

    @Test func partRetriesOnlyItsShards() async throws {
        try await withSite(60) { site in
            for part in ["0/2", "1/2"] { #expect(try await site.run(["--part", part]).status == 0) }
            site.setBusy(false)
            let requests = site.origin.counts.totalRequests
            let retry = try await site.run(["--part", "1/2", "--retry-failed"])
            #expect(retry.status == 0)
            #expect(site.origin.counts.totalRequests == requests + 2)
            #expect(try marker("00001", in: site.folder)["attempt"] as? Int == 2)
            #expect(try marker("00000", in: site.folder)["attempt"] as? Int == 1)
        }
    }

    @Test func addedListIsRetriedWithExtend() async throws {
        try await withSite(40) { site in
            #expect(try await site.run(list: site.origin.url("/ok/first")).status == 0)
            #expect(try await site.run(["--extend"]).status == 0)
            site.setBusy(false)
            let requests = site.origin.counts.totalRequests
            let retry = try await site.run(["--extend", "--retry-failed"])
            #expect(retry.status == 0)
            #expect(site.origin.counts.totalRequests == requests + 4)
            #expect(try marker("00002", in: site.folder)["successes"] as? Int == 18)
        }
    }

    @Test(arguments: [["--overwrite"], ["--sidecar", "none"]])
    func retryWithOptionsThatContradictItIsRejected(options: [String]) async throws {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "/tmp/never", "--retry-failed"] + options)
        #expect(result.status == 64)
        #expect(result.errors.contains("--retry-failed") && result.errors.contains(options[0]))
    }

    @Test func retryOfAStreamIsRejected() async throws {
        let result = try await Command.run(["batch", "--input", "-", "--output", "-", "--retry-failed"])
        #expect(result.status == 64)
        #expect(result.errors.contains("--retry-failed"))
    }
}
