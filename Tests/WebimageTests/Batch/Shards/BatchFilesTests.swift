import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch`, a folder, and `--output-format files` or `--unsorted`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(4))
)
struct BatchFilesTests {
    /// Runs `body` with an origin and a list of 25 lines in shards of 10, of which every tenth is a dead link.
    private func withList(
        _ body: (LoopbackOrigin, _ list: String, _ folder: String) async throws -> Void
    ) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/ok/*", LoopbackOrigin.Response(body: file))
            let lines = (0..<25).map { number in
                #"{"url":"\#(origin.url(number % 10 == 9 ? "/missing/\(number)" : "/ok/\(number)"))","n":\#(number)}"#
            }
            try await withTemporaryFolder { folder in
                try await body(origin, lines.joined(separator: "\n"), folder)
            }
        }
    }

    private func run(
        _ list: String, into folder: String, _ options: [String] = ["--output-format", "files"]
    ) async throws -> Command.Result {
        try await Command.run(
            ["batch", "--input", "-", "--output", folder, "--samples-per-shard", "10", "--max-pixel-size", "32"]
                + options, input: list)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Returns the contents of all files in the folders of shards.
    private func samples(_ folder: String) throws -> [String: Data] {
        var samples: [String: Data] = [:]
        for shard in try names(folder) where !shard.contains(".") {
            for name in try names("\(folder)/\(shard)") {
                samples["\(shard)/\(name)"] = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(shard)/\(name)"))
            }
        }
        return samples
    }

    private func object(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func filesFormatHasAFolderForEachShardWithAFileForEachMember() async throws {
        try await withList { _, list, folder in
            #expect(try await run(list, into: folder).status == 0)
            let shards = ["00000", "00001", "00002"].flatMap { [$0, "\($0).jsonl", "\($0)_stats.json"] }
            #expect(try names(folder) == (shards + ["00000_list.json", "run.json"]).sorted())
            let members = (0..<9).flatMap { ["00001\($0).jpg", "00001\($0).json"] }
            #expect(try names("\(folder)/00001") == members)
            #expect(try object("\(folder)/00001/000013.json")["n"] as? Int == 13)

            let images = try samples(folder).filter { $0.key.hasPrefix("00001/") }
            let marker = try #require(try object("\(folder)/00001_stats.json")["files"] as? [String: [String: Any]])
            #expect(marker["00001"]?["files"] as? Int == 18)
            #expect(marker["00001"]?["bytes"] as? Int == images.values.reduce(0) { $0 + $1.count })
            let sums = try await Command.run([], by: "cd \(folder)/00001 && LC_ALL=C; sha256sum * | sha256sum").output
            #expect(marker["00001"]?["sha256"] as? String == String(sums.prefix(64)))
            let records = try await Command.run([], by: "sha256sum \(folder)/00001.jsonl").output
            #expect(marker["00001.jsonl"]?["sha256"] as? String == String(records.prefix(64)))
        }
    }

    @Test func filesAreTheSameAtAnyConcurrency() async throws {
        try await withList { _, list, folder in
            var results: [[String: Data]] = []
            for concurrency in ["1", "16"] {
                let output = "\(folder)/\(concurrency)"
                let options = ["--output-format", "files", "--concurrency", concurrency]
                #expect(try await run(list, into: output, options).status == 0)
                results.append(try samples(output))
            }
            #expect(results[0].count == 46)
            #expect(results[0] == results[1])
        }
    }

    @Test func completeFoldersAreNotMadeAgainUnlessOverwritten() async throws {
        try await withList { origin, list, folder in
            #expect(try await run(list, into: folder).status == 0)
            let (first, requests) = (try samples(folder), origin.counts.totalRequests)
            #expect(try await run(list, into: folder).status == 0)
            #expect(origin.counts.totalRequests == requests)

            try Data().write(to: URL(fileURLWithPath: "\(folder)/00000/000009.jpg"))
            #expect(try await run(list, into: folder, ["--output-format", "files", "--overwrite"]).status == 0)
            #expect(try samples(folder) == first)
        }
    }

    @Test func folderWithOtherFilesIsNotReplacedByAShard() async throws {
        try await withList { _, list, folder in
            let other = "\(folder)/00001/holiday.jpg"
            try FileManager.default.createDirectory(atPath: "\(folder)/00001", withIntermediateDirectories: true)
            try Data([1]).write(to: URL(fileURLWithPath: other))
            let result = try await run(list, into: folder)
            #expect(result.status == 74)
            #expect(result.errors.contains("\(folder)/00001"))
            #expect(FileManager.default.fileExists(atPath: other))
            #expect(try !names(folder).contains { $0.hasSuffix(".part") })
        }
    }

    @Test func incompleteFoldersOfAKilledRunAreRemoved() async throws {
        try await withList { _, list, folder in
            let left = "\(folder)/.00001.host-1.part"
            try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
            try Data([1]).write(to: URL(fileURLWithPath: "\(left)/000010.jpg"))
            #expect(try await run(list, into: folder).status == 0)
            #expect(try !names(folder).contains(".00001.host-1.part"))
            #expect(try names("\(folder)/00001").count == 18)
        }
    }

    @Test func linkInPlaceOfAShardIsNotFollowed() async throws {
        try await withList { _, list, folder in
            let elsewhere = "\(folder)/elsewhere"
            let output = "\(folder)/output"
            for path in [elsewhere, output] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            try Data().write(to: URL(fileURLWithPath: "\(elsewhere)/kept"))
            try FileManager.default.createSymbolicLink(atPath: "\(output)/00000", withDestinationPath: elsewhere)
            let result = try await run(list, into: output)
            #expect(result.status == 74)
            #expect(result.errors.contains("\(output)/00000"))
            #expect(try names(elsewhere) == ["kept"])
        }
    }

    @Test func unsortedShardsHaveTheSameSamples() async throws {
        try await withList { _, list, folder in
            var records: [[String]] = []
            for options in [[], ["--unsorted"]] {
                let output = "\(folder)/\(options.count)"
                #expect(try await run(list, into: output, options).status == 0)
                let text = try String(contentsOfFile: "\(output)/00000.jsonl", encoding: .utf8)
                records.append(try text.split(separator: "\n").map { try Self.key(of: String($0)) }.sorted())
                let size = try FileManager.default.attributesOfItem(atPath: "\(output)/00000.tar")[.size] as? Int
                // Nine samples with two members each, and the end.
                #expect(try #require(size) > 9 * 4 * 512)
            }
            #expect(records[0].count == 10)
            #expect(records[0] == records[1])
        }
    }

    private static func key(of record: String) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(record.utf8)) as? [String: Any]
        return try #require(object?["key"] as? String)
    }

    @Test func countersOfHadoopAreCompleteAtTheEnd() async throws {
        try await withList { _, list, folder in
            let result = try await run(list, into: folder, ["--progress", "hadoop", "--output-format", "none"])
            #expect(result.status == 0)
            #expect(result.errors.contains("reporter:counter:webimage,success,23\n"))
            #expect(result.errors.contains("reporter:counter:webimage,http_404,2\n"))
        }
    }

    @Test(arguments: [["--unsorted"], ["--output-format", "parquet"], ["--output-format", "files"]])
    func optionsWithoutMeaningAreRejected(options: [String]) async throws {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-"] + options, input: "http://127.0.0.1:1/a")
        #expect(result.status == 64)
        #expect(result.errors.contains(options[0]))
    }
}
