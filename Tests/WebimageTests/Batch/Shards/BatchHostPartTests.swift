import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --part-by host`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct BatchHostPartTests {
    private func run(_ list: String, into folder: String, _ options: String...) async throws -> Command.Result {
        try await Command.run(
            [
                "batch", "--input", "-", "--output", folder, "--samples-per-shard", "10", "--part-by", "host",
                "--retries", "0", "--max-retryable-rate", "1",
            ] + options, input: list)
    }

    /// The indexes of the records in each complete shard.
    private func indexes(_ folder: String) throws -> [String: [Int]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix("_stats.json") }
        return Dictionary(
            uniqueKeysWithValues: try names.map { name in
                let shard = String(name.prefix(5))
                let text = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(shard).jsonl"))
                let records = try String(decoding: text, as: UTF8.self).split(separator: "\n").map {
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
                }
                return (shard, records.compactMap { $0?["index"] as? Int })
            })
    }

    /// Runs `body` with lists of images on two hosts, links to hosts without a server, and lines that cannot be used.
    private func withList(_ body: (LoopbackOrigin, _ lines: [String], _ folder: String) async throws -> Void)
        async throws
    {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: file))
            let port = try #require(origin.url("/").split(separator: ":").last?.dropLast())
            let lines = (0..<120).map { number in
                switch number % 6 {
                case 0, 1: origin.url("/\(number)")
                case 2, 3: "http://LocalHost:\(port)/\(number)"
                case 4: "http://127.0.0.\(number):1/\(number)"
                default: "not a URL \(number)"
                }
            }
            try await withTemporaryFolder { try await body(origin, lines, $0) }
        }
    }

    @Test func partsByHostTogetherAnswerEveryLineOnce() async throws {
        try await withList { origin, lines, folder in
            let list = lines.joined(separator: "\n")
            for part in ["2/3", "0/3", "1/3"] { #expect(try await run(list, into: folder, "--part", part).status == 0) }
            let shards = try indexes(folder)
            #expect(shards.values.flatMap(\.self).sorted() == Array(0..<120))
            #expect(shards.values.allSatisfy { $0 == $0.sorted() })
            for start in [0, 2] {
                let host = lines[start].contains("127") ? "127.0.0.1" : "localhost"
                let owner = Int(HostParts.hash(host) % 3)
                let places = shards.filter { $1.contains { $0 % 6 == start } }.keys.compactMap { Int($0) }
                #expect(!places.isEmpty)
                #expect(places.allSatisfy { $0 % 3 == owner })
            }
            #expect(origin.counts.totalRequests == 80)
            // Complete shards are not made again, and a missing one is.
            try FileManager.default.removeItem(atPath: "\(folder)/\(try #require(shards.keys.min()))_stats.json")
            for part in ["0/3", "1/3", "2/3"] { #expect(try await run(list, into: folder, "--part", part).status == 0) }
            #expect(try indexes(folder) == shards)
            #expect(origin.counts.totalRequests <= 90)
        }
    }

    @Test func aSpreadHostIsDividedAmongAllParts() async throws {
        try await withList { origin, lines, folder in
            let list = lines.joined(separator: "\n")
            for part in ["0/2", "1/2"] {
                let result = try await run(list, into: folder, "--part", part, "--spread-host", "LOCALHOST")
                #expect(result.status == 0)
            }
            let shards = try indexes(folder)
            #expect(shards.values.flatMap(\.self).sorted() == Array(0..<120))
            let parts = shards.filter { $1.contains { [2, 3].contains($0 % 6) } }.keys.compactMap { Int($0) }
            #expect(Set(parts.map { $0 % 2 }) == [0, 1])
        }
    }

    @Test func folderOfAnotherListOrHostPartIsRejected() async throws {
        try await withList { _, lines, folder in
            let list = lines.joined(separator: "\n")
            #expect(try await run(list, into: folder, "--part", "0/2").status == 0)
            #expect(try await run(list, into: folder, "--part", "0/3").status == 65)
            #expect(try await run(list, into: folder, "--part", "0/2", "--spread-host", "a").status == 65)
            let whole = try await Command.run(
                ["batch", "--input", "-", "--output", folder, "--samples-per-shard", "10"], input: list)
            #expect(whole.status == 65)
            // The lines are the same as before, but their indexes are not.
            let part = Int(HostParts.hash("localhost") % 2)
            #expect(try await run(list, into: folder, "--part", "\(part)/2").status == 0)
            let shifted = [lines[2]] + ["http://\(otherHost(than: part))/"] + lines[3...]
            #expect(try await run(shifted.joined(separator: "\n"), into: folder, "--part", "\(part)/2").status == 65)
        }
    }

    /// A host that belongs to the other one of two parts.
    private func otherHost(than part: Int) -> String {
        (0..<100).map { "h\($0).invalid" }.first { Int(HostParts.hash($0) % 2) != part } ?? ""
    }
}
