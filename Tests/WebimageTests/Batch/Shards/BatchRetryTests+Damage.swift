import Foundation
import Testing

// Shards that do not match the list, or whose files have been changed since they were completed.
extension BatchRetryTests {
    @Test func retryWithAnotherListLeavesTheShardAsItIs() async throws {
        try await withSite(20) { site in
            #expect(try await site.run().status == 0)
            let before = try contents(site.folder)
            site.setBusy(false)
            let other = site.list.replacing("/ok/5", with: "/ok/other")
            let result = try await site.run(["--retry-failed"], list: other)
            #expect(result.status == 65)
            #expect(result.errors.contains("shard 00000"))
            #expect(try contents(site.folder) == before)
        }
    }

    /// Returns the files of the first shard, and those of the second one.
    private func shards(_ site: Site) throws -> (first: [String: Data], second: [String: Data]) {
        let files = try contents(site.folder)
        return (files.filter { $0.key.hasPrefix("00000") }, files.filter { $0.key.hasPrefix("00001") })
    }

    private func flipByte(of path: String) throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        file[file.count / 2] ^= 1
        try file.write(to: URL(fileURLWithPath: path))
    }

    @Test(arguments: [
        ("webdataset", "00000.tar", "00000.tar"), ("webdataset", "00000.jsonl", "00000.jsonl"),
        ("files", "00000/0000005.jpg", "00000"),
    ])
    func damagedShardRemainsAndTheOthersAreRetried(format: String, name: String, told: String) async throws {
        try await withSite(40) { site in
            #expect(try await site.run(["--output-format", format]).status == 0)
            site.setBusy(false)
            try flipByte(of: "\(site.folder)/\(name)")
            let before = try shards(site)
            let result = try await site.run(["--output-format", format, "--retry-failed"])
            #expect(result.status == 74)
            #expect(
                result.errors.contains(
                    "cannot retry the failures of the shard 00000: \(site.folder)/\(told) is not as its marker describes "
                        + "it; remove \(site.folder)/00000_stats.json to make the shard again"), "\(result.errors)")
            #expect(result.errors.contains("the failures of 1 damaged shard were not retried"), "\(result.errors)")
            let after = try shards(site)
            #expect(after.first == before.first)
            let record = String(decoding: try #require(after.second["00001.jsonl"]), as: UTF8.self)
            #expect(!record.contains("http_503") && record.contains("http_404"))

            // As the message says.
            try FileManager.default.removeItem(atPath: "\(site.folder)/00000_stats.json")
            #expect(try await site.run(["--output-format", format, "--retry-failed"]).status == 0)
            #expect(try await Command.run(["batch", "--verify", site.folder]).status == 0)
        }
    }

    @Test func linesOfADamagedShardAreStillListedAsFailed() async throws {
        try await withSite(40) { site in
            #expect(try await site.run().status == 0)
            site.setBusy(false)
            for name in ["00000.jsonl", "00001.tar"] { try flipByte(of: "\(site.folder)/\(name)") }
            let (again, summary) = (site.folder + "-again", site.folder + "-summary")
            let result = try await site.run(["--retry-failed", "--failed-to", again, "--summary", summary])
            #expect(result.status == 74)
            #expect(try lines(again).compactMap { try object($0)["n"] as? Int }.sorted() == [3, 13, 23, 33])
            #expect(try object(lines(summary)[0])["incomplete_count"] as? Int == 2)
        }
    }

    @Test(arguments: [("webdataset", "00000.tar"), ("webdataset", "00000.jsonl"), ("files", "00000/0000005.json")])
    func shardWithAFileOfAnotherSizeIsMadeAgain(format: String, name: String) async throws {
        try await withSite(20) { site in
            #expect(try await site.run(["--output-format", format]).status == 0)
            site.setBusy(false)
            let path = "\(site.folder)/\(name)"
            for isCut in format == "files" ? [false] : [false, true] {
                if isCut {
                    try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(512).write(to: URL(fileURLWithPath: path))
                } else {
                    try FileManager.default.removeItem(atPath: path)
                }
                let result = try await site.run(["--output-format", format, "--retry-failed"])
                #expect(result.status == 0)
                #expect(result.errors.contains("the shard is made again"), "\(result.errors)")
                #expect(try await Command.run(["batch", "--verify", site.folder]).status == 0)
                site.setBusy(true)
                #expect(try await site.run(["--output-format", format, "--overwrite"]).status == 0)
                site.setBusy(false)
            }
        }
    }

    @Test func numberOfAttemptsOfADamagedMarkerCanBeAny() async throws {
        try await withSite(20) { site in
            #expect(try await site.run().status == 0)
            site.setBusy(false)
            let path = "\(site.folder)/00000_stats.json"
            let marker = try String(contentsOfFile: path, encoding: .utf8)
            let damaged = marker.replacing(/"attempt": ?1\b/, with: "\"attempt\":9223372036854775807")
            #expect(damaged != marker)
            try damaged.write(toFile: path, atomically: false, encoding: .utf8)
            #expect(try await site.run(["--retry-failed"]).status == 0)
        }
    }

    @Test func shardWhoseFilesWereMovedByACommandRemains() async throws {
        try await withSite(20) { site in
            #expect(try await site.run(["--post-shard", "mv \"$1\" \"$1.moved\""]).status == 0)
            site.setBusy(false)
            let before = try contents(site.folder)
            let result = try await site.run(["--retry-failed"])
            #expect(result.status == 74)
            #expect(result.errors.contains("cannot read \(site.folder)/00000.tar"), "\(result.errors)")
            #expect(try contents(site.folder) == before)
        }
    }
}
