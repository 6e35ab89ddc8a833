import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import webimage

/// The built command with `batch` and a folder.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(4))
)
struct BatchFolderTests {
    typealias Response = LoopbackOrigin.Response

    /// Runs `body` with an origin of photographs and a folder; a list has `count` lines, of which every tenth is a dead
    /// link.
    private func withList(
        _ count: Int, _ body: (LoopbackOrigin, _ list: String, _ folder: String) async throws -> Void
    ) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/ok/*", Response(body: file))
            let lines = (0..<count).map { number in
                let path = number % 10 == 9 ? "/missing/\(number)" : "/ok/\(number)"
                return #"{"url":"\#(origin.url(path))","id":"a\#(number)","n":\#(number)}"#
            }
            try await withTemporaryFolder { folder in
                try await body(origin, lines.joined(separator: "\n"), folder)
            }
        }
    }

    private func run(
        _ list: String, into folder: String, _ options: [String] = [], by script: String? = nil,
        whileRunning: (Command) async throws -> Void = { _ in }
    ) async throws -> Command.Result {
        try await Command.run(
            ["batch", "--input", "-", "--output", folder, "--samples-per-shard", "20", "--max-pixel-size", "32"]
                + options, input: list, by: script, whileRunning: whileRunning)
    }

    /// The files of a folder, but not those that differ from run to run.
    private func archives(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".tar") }
        return Dictionary(
            uniqueKeysWithValues: try names.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
            })
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func objects(_ path: String) throws -> [[String: Any]] {
        try String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            .split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
    }

    @Test func shardsHaveAnArchiveRecordsAndAMarker() async throws {
        try await withList(45) { _, list, folder in
            let result = try await run(list, into: folder)
            #expect(result.status == 0)
            let shards = ["00000", "00001", "00002"].flatMap { ["\($0).jsonl", "\($0).tar", "\($0)_stats.json"] }
            #expect(try names(folder) == (shards + ["00000_list.json", "run.json"]).sorted())

            let listing = try await Command.run([], by: "tar tf \(folder)/00001.tar").output.split(separator: "\n")
            let keys = (0..<20).filter { ($0 + 20) % 10 != 9 }.map { "00001" + ($0 < 10 ? "0" : "") + "\($0)" }
            #expect(listing.map(String.init) == keys.flatMap { ["\($0).jpg", "\($0).json"] })

            let records = try objects(folder + "/00001.jsonl")
            #expect(records.map { $0["index"] as? Int } == (20..<40).map { $0 })
            #expect(records.map { $0["n"] as? Int } == (20..<40).map { $0 })
            #expect(records[9]["error_code"] as? String == "http_404" && records[9]["key"] as? String == "0000109")

            let marker = try #require(try objects(folder + "/00002_stats.json").first)
            #expect(marker["count"] as? Int == 5 && marker["successes"] as? Int == 5)
            let files = try #require(marker["files"] as? [String: [String: Any]])
            let sum = try await Command.run([], by: "sha256sum \(folder)/00002.tar").output.prefix(64)
            #expect(files["00002.tar"]?["sha256"] as? String == String(sum))
        }
    }

    @Test func archivesAreTheSameAtAnyConcurrency() async throws {
        try await withList(60) { _, list, folder in
            for concurrency in ["1", "7", "64"] {
                let result = try await run(list, into: folder + concurrency, ["--concurrency", concurrency])
                #expect(result.status == 0)
            }
            defer {
                for concurrency in ["1", "7", "64"] {
                    try? FileManager.default.removeItem(atPath: folder + concurrency)
                }
            }
            let first = try archives(folder + "1")
            #expect(first.count == 3)
            #expect(try archives(folder + "7") == first)
            #expect(try archives(folder + "64") == first)
        }
    }

    @Test func completeShardsAreNotMadeAgain() async throws {
        try await withList(40) { origin, list, folder in
            #expect(try await run(list, into: folder).status == 0)
            let requests = origin.counts.totalRequests
            let before = try archives(folder)
            #expect(try await run(list, into: folder).status == 0)
            #expect(origin.counts.totalRequests == requests)

            try FileManager.default.removeItem(atPath: folder + "/00001_stats.json")
            #expect(try await run(list, into: folder).status == 0)
            #expect(origin.counts.totalRequests == requests + 20)
            #expect(try archives(folder) == before)

            #expect(try await run(list, into: folder, ["--overwrite"]).status == 0)
            #expect(origin.counts.totalRequests == requests + 60)
            #expect(try archives(folder) == before)
        }
    }

    @Test func folderRejectsAnotherListAndOtherOptions() async throws {
        try await withList(40) { _, list, folder in
            #expect(try await run(list, into: folder).status == 0)
            let lines = list.split(separator: "\n")
            let other = (lines[..<6] + lines[7...]).joined(separator: "\n")
            let result = try await run(other, into: folder)
            #expect(result.status == 65)
            #expect(result.errors.contains("shard 00000"))
            let shorter = try await run(lines[..<30].joined(separator: "\n"), into: folder)
            #expect(shorter.status == 65)
            #expect(shorter.errors.contains("shard 00001"))
            let options = try await run(list, into: folder, ["--quality", "50"])
            #expect(options.status == 65)
            #expect(options.errors.contains("run.json"))
        }
    }

    @Test func folderRejectsAListWithAnotherHeader() async throws {
        try await withList(0) { origin, _, folder in
            let line = "\(origin.url("/ok/1")),\(origin.url("/ok/2"))\n"
            for _ in 0..<2 {
                #expect(try await run("url,other\n" + line, into: folder, ["--input-format", "csv"]).status == 0)
            }
            #expect(origin.counts.totalRequests == 1)
            let corrected = try await run("other,url\n" + line, into: folder, ["--input-format", "csv"])
            #expect(corrected.status == 65)
            #expect(corrected.errors.contains("shard 00000"))
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func killedRunsLeaveNothingIncompleteUnderAFinalName() async throws {
        try await withList(200) { origin, list, folder in
            let undisturbed = folder + "-undisturbed"
            defer { try? FileManager.default.removeItem(atPath: undisturbed) }
            #expect(try await run(list, into: undisturbed).status == 0)
            for attempt in 1...8 {
                let before = origin.counts.totalRequests
                let result = try await run(list, into: folder, ["--concurrency", "4"]) { command in
                    // The run can be complete before.
                    while origin.counts.totalRequests < before + attempt * 7,
                        await !command.ends(within: .milliseconds(1))
                    {}
                    command.send(SIGKILL)
                }
                #expect([137, 0].contains(result.status))
                let complete = try names(folder).filter { $0.hasSuffix("_stats.json") }.map { $0.prefix(5) }
                for shard in complete {
                    let file = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(shard).tar"))
                    #expect(try archives(undisturbed)["\(shard).tar"] == file)
                }
            }
            #expect(try await run(list, into: folder).status == 0)
            #expect(try archives(folder) == (try archives(undisturbed)))
            #expect(try names(folder).filter { $0.hasPrefix(".") } == [])
        }
    }

    @Test func anInterruptionKeepsCompleteShardsOnly() async throws {
        try await withList(40) { origin, list, folder in
            let file = try #require(testPhotograph).encoded(as: .jpeg)
            origin.route("/ok/25", Response(body: file).stalled(at: .body(10)))
            let result = try await run(list, into: folder, ["--grace", "0"]) { command in
                while !FileManager.default.fileExists(atPath: folder + "/00000_stats.json"),
                    await !command.ends(within: .milliseconds(5))
                {}
                command.send(SIGTERM)
            }
            #expect(result.status == 143)
            let expected = ["00000.jsonl", "00000.tar", "00000_list.json", "00000_stats.json", "run.json"]
            #expect(try names(folder) == expected)
        }
    }

    @Test func processesOnOneFolderMakeEachShardOnce() async throws {
        try await withList(300) { origin, list, folder in
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await run(list, into: folder, ["--claim", "--concurrency", "4"]).status }
                }
                for try await status in group { #expect(status == 0) }
            }
            #expect(origin.counts.requests.values.allSatisfy { $0 == 1 })
            #expect(origin.counts.totalRequests == 300)
            #expect(try archives(folder).count == 15)
            #expect(try names(folder).filter { $0.hasPrefix(".") } == [])
        }
    }

    @Test func eachPartWritesItsShards() async throws {
        try await withList(100) { origin, list, folder in
            let first = try await run(list, into: folder, ["--part", "1/3"])
            #expect(first.status == 0)
            #expect(try archives(folder).keys.sorted() == ["00001.tar", "00004.tar"])
            #expect(origin.counts.totalRequests == 40)
            for part in ["0/3", "2/3"] { #expect(try await run(list, into: folder, ["--part", part]).status == 0) }
            #expect(try archives(folder).count == 5)
            #expect(origin.counts.totalRequests == 100)
        }
    }

    @Test func anOutageCompletesNoShard() async throws {
        try await withList(40) { origin, list, folder in
            origin.route("/ok/*", Response(status: 503))
            let again = folder + "-again.jsonl"
            defer { try? FileManager.default.removeItem(atPath: again) }
            let result = try await run(list, into: folder, ["--retries", "0", "--failed-to", again])
            #expect(result.status == 75)
            #expect(try names(folder) == ["00000_list.json", "run.json"])
            // None of the lines is stored.
            #expect(try objects(again).count == 40)
            #expect(try await run(list, into: folder, ["--retries", "0", "--max-retryable-rate", "1"]).status == 0)
            let strict = try await run(
                list, into: folder,
                ["--overwrite", "--retries", "0", "--max-retryable-rate", "1", "--min-success-rate", "0.1"])
            #expect(strict.status == 75)
        }
    }

    @Test func noIncompleteFilesRemainIfTheFolderCannotBeWritten() async throws {
        try await withList(200) { _, list, folder in
            // An archive of this list has about 40 KiB.
            let result = try await run(list, into: folder, by: "ulimit -f 16; exec \"$@\"")
            #expect(result.status == 74)
            #expect(result.errors.contains("cannot write to"))
            #expect(try names(folder) == ["00000_list.json", "run.json"])
        }
    }

    @Test func unwritableBatchFolderIsAnError() async throws {
        let result = try await run("x\n", into: "/proc/nowhere")
        #expect(result.status == 74)
        #expect(result.errors.contains("/proc/nowhere"))
    }

    @Test func reservedColumnsAreRejected() async throws {
        try await withTemporaryFolder { folder in
            let result = try await run(#"{"url":"u","width":1}"#, into: folder)
            #expect(result.status == 64)
            #expect(result.errors.contains("rename it"))
            let captions = try await run(#"{"url":"u","caption":"c"}"#, into: folder)
            #expect(captions.status == 64)
            #expect(captions.errors.contains("use --caption-col caption"))
            #expect(try names(folder) == [])
        }
    }

    /// Otherwise the corrected run would be refused because of other options.
    @Test func runWithAMisspelledColumnCanBeCorrected() async throws {
        try await withTemporaryFolder { folder in
            let list = "url,sha256\n,\n"
            let wrong = try await run(list, into: folder, ["--input-format", "csv", "--verify-hash", "sha256=sha"])
            #expect(wrong.status == 64)
            let corrected = try await run(list, into: folder, ["--input-format", "csv", "--verify-hash", "sha256"])
            #expect(corrected.status == 0)
            #expect(try names(folder).contains("00000_stats.json"))
        }
    }

    @Test(arguments: ["3/3", "-1/2", "1", "a/b", "0/0"])
    func partsThatDoNotExistAreRejected(part: String) async throws {
        #expect(try await run("", into: "/tmp/never", ["--part", part]).status == 64)
    }
}
