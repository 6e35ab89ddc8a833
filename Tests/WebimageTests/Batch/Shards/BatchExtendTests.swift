import Foundation
import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --extend`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchExtendTests {
    typealias Response = LoopbackOrigin.Response

    /// Runs `body` with an origin of photographs and a folder.
    private func withFolder(_ body: (LoopbackOrigin, _ folder: String) async throws -> Void) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/*", Response(body: file))
            origin.route("/none/*", Response(status: 404))
            try await withTemporaryFolder { try await body(origin, $0) }
        }
    }

    /// A list of `count` lines.
    private func list(_ name: String, _ count: Int, _ origin: LoopbackOrigin) -> String {
        (0..<count).map { origin.url("/\(name)/\($0)") + "\n" }.joined()
    }

    private func run(
        _ list: String, into folder: String, _ options: [String] = ["--extend"],
        whileRunning: (Command) async throws -> Void = { _ in }
    ) async throws -> Command.Result {
        try await Command.run(
            ["batch", "--input", "-", "--output", folder, "--samples-per-shard", "20", "--max-pixel-size", "32"]
                + options, input: list, whileRunning: whileRunning)
    }

    /// The names of the files of a folder that end in `suffix`.
    private func names(_ folder: String, _ suffix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(suffix) }.sorted()
    }

    private func records(_ path: String) throws -> [[String: Any]] {
        try String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            .split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
    }

    @Test func fileWithAHugeNumberIsNoShard() async throws {
        try await withFolder { origin, folder in
            #expect(try await run(list("a", 20, origin), into: folder).status == 0)
            try Data().write(to: URL(fileURLWithPath: folder + "/\(Int.max).tar"))
            #expect(try await run(list("b", 20, origin), into: folder).status == 0)
            #expect(try names(folder, "_stats.json") == ["00000_stats.json", "00001_stats.json"])
        }
    }

    @Test(arguments: [[], ["--extend"]]) func anAdditionalListFollowsTheShardsOfTheFolder(first: [String]) async throws
    {
        try await withFolder { origin, folder in
            #expect(try await run(list("a", 50, origin), into: folder, first).status == 0)
            let before = try Data(contentsOf: URL(fileURLWithPath: folder + "/00002.tar"))
            #expect(try await run(list("b", 30, origin), into: folder).status == 0)
            #expect(try names(folder, ".tar") == (0...4).map { "0000\($0).tar" })
            #expect(try names(folder, "_stats.json").count == 5)
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/00002.tar")) == before)
            let added = try records(folder + "/00004.jsonl")
            #expect(added.map { $0["index"] as? Int } == (20..<30).map { $0 })
            #expect(added.first?["key"] as? String == "0000400")
            #expect(added.first?["url"] as? String == origin.url("/b/20"))
        }
    }

    @Test func anAdditionalListIsContinued() async throws {
        try await withFolder { origin, folder in
            let lists = ["a", "b", "c"].map { list($0, 40, origin) }
            for list in lists { #expect(try await run(list, into: folder).status == 0) }
            #expect(origin.counts.totalRequests == 120)
            for list in lists { #expect(try await run(list, into: folder).status == 0) }
            #expect(origin.counts.totalRequests == 120)

            for suffix in [".tar", ".jsonl", "_stats.json"] {
                try FileManager.default.removeItem(atPath: folder + "/00002" + suffix)
            }
            #expect(try await run(lists[1], into: folder).status == 0)
            #expect(origin.counts.totalRequests == 140)
            #expect(try records(folder + "/00002.jsonl").first?["url"] as? String == origin.url("/b/0"))
            #expect(try names(folder, ".tar").count == 6)
        }
    }

    @Test func listThatBeganTheFolderIsNotAddedToIt() async throws {
        try await withFolder { origin, folder in
            let (first, second) = (list("a", 50, origin), list("b", 30, origin))
            let part = try await run(first, into: folder, ["--part", "0/2"])
            #expect(part.status == 0)
            #expect(try names(folder, ".tar") == ["00000.tar", "00002.tar"])
            #expect(try await run(first, into: folder).status == 0)
            #expect(try names(folder, ".tar") == ["00000.tar", "00001.tar", "00002.tar"])
            #expect(try await run(second, into: folder).status == 0)
            for lines in [first, second] { #expect(try await run(lines, into: folder).status == 0) }
            #expect(try await run(first, into: folder, []).status == 0)
            #expect(try names(folder, ".tar").count == 5)
            #expect(origin.counts.totalRequests == 80)
        }
    }

    @Test func listThatReplacesTheFirstOneIsRecognizedInItsPlace() async throws {
        try await withFolder { origin, folder in
            let (first, second) = (list("a", 40, origin), list("b", 40, origin))
            // Nothing of the list is stored.
            let outage = try await run(list("none", 20, origin), into: folder, ["--min-success-rate", "1"])
            #expect(outage.status == 75)
            #expect(try await run(first, into: folder, []).status == 0)
            #expect(try await run(first, into: folder).status == 0)
            #expect(try await run(second, into: folder, ["--overwrite"]).status == 0)
            #expect(try await run(second, into: folder).status == 0)
            #expect(try names(folder, ".tar") == ["00000.tar", "00001.tar"])
        }
    }

    @Test func linesWithAnotherHeaderAreAnAdditionalList() async throws {
        try await withFolder { origin, folder in
            let line = "\(origin.url("/a")),\(origin.url("/b"))\n"
            for header in ["url,other\n", "other,url\n", "url,other\n", "other,url\n"] {
                let result = try await run(header + line, into: folder, ["--extend", "--input-format", "csv"])
                #expect(result.status == 0)
            }
            #expect(try records(folder + "/00000.jsonl").first?["url"] as? String == origin.url("/a"))
            #expect(try records(folder + "/00001.jsonl").first?["url"] as? String == origin.url("/b"))
            #expect(try names(folder, ".tar") == ["00000.tar", "00001.tar"])
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func anAdditionalListThatHasGrownIsRejected() async throws {
        try await withFolder { origin, folder in
            #expect(try await run(list("a", 110, origin), into: folder).status == 0)
            let result = try await run(list("a", 130, origin), into: folder)
            #expect(result.status == 65)
            #expect(result.errors.contains("00005"))
        }
    }

    @Test(arguments: [[], ["--extend"]])
    func shardsOfAnotherListAreNotReplaced(by first: [String]) async throws {
        try await withFolder { origin, folder in
            #expect(try await run(list("a", 120, origin), into: folder, first).status == 0)
            let added = list("b", 40, origin)
            #expect(try await run(added, into: folder, ["--extend", "--part", "1/2"]).status == 0)
            // The first one of the added list is not complete.
            let result = try await run(list("a", 140, origin), into: folder, first)
            #expect(result.status == 65)
            #expect(try await run(added, into: folder).status == 0)
            let url = try records(folder + "/00006.jsonl").first?["url"] as? String
            #expect(url == origin.url("/b/0"))
        }
    }

    @Test func listWithoutShardsDoesNotKeepAnEarlierOneFromContinuing() async throws {
        try await withFolder { origin, folder in
            let first = list("a", 40, origin)
            #expect(try await run(first, into: folder, ["--part", "0/2"]).status == 0)
            // Of a run that ended before its first shard.
            let file = folder + "/00001_list.json"
            try Data("{\"first_shard\":1,\"head_sha256\":\"00\"}\n".utf8).write(to: URL(fileURLWithPath: file))
            let result = try await run(first, into: folder, [])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try names(folder, ".tar") == ["00000.tar", "00001.tar"])
            #expect(try names(folder, "_list.json") == ["00000_list.json"])
        }
    }

    @Test func listWithoutShardsBetweenOthersDoesNotKeepTheFirstOneFromContinuing() async throws {
        try await withFolder { origin, folder in
            let first = list("a", 40, origin)
            #expect(try await run(first, into: folder, ["--part", "0/2"]).status == 0)
            let outage = try await run(list("none", 20, origin), into: folder, ["--extend", "--min-success-rate", "1"])
            #expect(outage.status == 75)
            #expect(try await run(list("b", 20, origin), into: folder).status == 0)
            #expect(try names(folder, ".tar") == ["00000.tar", "00002.tar"])
            let result = try await run(first, into: folder, [])
            #expect(result.status == 0, "\(result.errors)")
            #expect(try names(folder, ".tar") == ["00000.tar", "00001.tar", "00002.tar"])
            #expect(try names(folder, "_list.json") == ["00000_list.json", "00002_list.json"])
        }
    }

    @Test func completeShardsAreNotRefusedBecauseOfAnotherList() async throws {
        try await withFolder { origin, folder in
            let first = list("a", 60, origin)
            #expect(try await run(first, into: folder, []).status == 0)
            let file = folder + "/00001_list.json"
            try Data("{\"first_shard\":1,\"head_sha256\":\"00\"}\n".utf8).write(to: URL(fileURLWithPath: file))
            let result = try await run(first, into: folder, [])
            #expect(result.status == 0, "\(result.errors)")
            #expect(origin.counts.totalRequests == 60)
        }
    }

    @Test func partsOfAnAdditionalListHaveItsNumbers() async throws {
        try await withFolder { origin, folder in
            #expect(try await run(list("a", 20, origin), into: folder).status == 0)
            let added = list("b", 80, origin)
            async let second = run(added, into: folder, ["--extend", "--part", "1/2"])
            async let first = run(added, into: folder, ["--extend", "--part", "0/2"])
            let statuses = try await [first.status, second.status]
            #expect(statuses == [0, 0])
            #expect(try names(folder, ".tar") == (0...4).map { "0000\($0).tar" })
            #expect(try names(folder, "_list.json") == ["00000_list.json", "00001_list.json"])
            #expect(origin.counts.totalRequests == 100)
            for shard in 1...4 {
                let url = try records(folder + "/0000\(shard).jsonl").first?["url"] as? String
                #expect(url == origin.url("/b/\(20 * (shard - 1))"))
            }
        }
    }

    @Test(arguments: [[], ["--extend"]])
    func anotherListIsNotAddedWhileOneIsBeingWritten(first: [String]) async throws {
        try await withFolder { origin, folder in
            origin.route("/a/5", Response(body: [1]).stalled(at: .start))
            // The stalled request is not repeated while the second command runs, however slow the machine is.
            let options = first + ["--grace", "0", "--timeout", "600", "--deadline", "600"]
            let running = try await run(list("a", 40, origin), into: folder, options) { command in
                await origin.counts { $0.totalRequests == 40 }
                let result = try await run(list("b", 40, origin), into: folder)
                #expect(result.status == 65)
                #expect(result.errors.contains("another list is being written to \(folder)"))
                #expect(try names(folder, "_list.json") == ["00000_list.json"])
                command.send(SIGTERM)
            }
            #expect(running.status == 143)
            #expect(origin.counts.totalRequests == 40)
            #expect(try await run(list("b", 40, origin), into: folder).status == 0)
        }
    }

    @Test func emptyListsAddNothing() async throws {
        try await withFolder { origin, folder in
            let empty = try await run("\n", into: folder)
            #expect(empty.status == 64)
            #expect(try names(folder, "").isEmpty)
            #expect(try await run(list("a", 1, origin), into: folder).status == 0)
            #expect(try names(folder, ".tar") == ["00000.tar"])
        }
    }

    @Test(arguments: ["--extend", "--min-success-rate=0.5", "--max-retryable-rate=0.7", "--sidecar=none"])
    func optionsForShardsRequireAFolder(option: String) async throws {
        let result = try await Command.run(["batch", "--input", "-", "--output", "-", option])
        #expect(result.status == 64)
        #expect(result.errors.contains("\(option.prefix { $0 != "=" }) applies to a folder"))
    }
}
