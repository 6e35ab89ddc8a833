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

    @Test(arguments: ["00000.tar", "00000.jsonl"])
    func damagedShardIsNotRewritten(name: String) async throws {
        try await withSite(20) { site in
            #expect(try await site.run().status == 0)
            site.setBusy(false)
            let path = "\(site.folder)/\(name)"
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            var changed = whole
            changed[changed.count / 2] ^= 1
            for damaged in [whole.dropLast(512), changed] {
                try damaged.write(to: URL(fileURLWithPath: path))
                let before = try contents(site.folder)
                let result = try await site.run(["--retry-failed"])
                #expect(result.status == 74)
                #expect(result.errors.contains(path))
                #expect(try contents(site.folder) == before)
            }
            try FileManager.default.removeItem(atPath: path)
            #expect(try await site.run(["--retry-failed"]).status == 74)
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

    @Test func changedFileOfAFolderIsNotCopied() async throws {
        try await withSite(20) { site in
            #expect(try await site.run(["--output-format", "files"]).status == 0)
            site.setBusy(false)
            let path = "\(site.folder)/00000/0000005.jpg"
            var file = try Data(contentsOf: URL(fileURLWithPath: path))
            file[file.count / 2] ^= 1
            try file.write(to: URL(fileURLWithPath: path))
            let before = try contents(site.folder)
            #expect(try await site.run(["--output-format", "files", "--retry-failed"]).status == 74)
            #expect(try contents(site.folder) == before)
        }
    }

    @Test func damagedFolderIsNotRewritten() async throws {
        try await withSite(20) { site in
            #expect(try await site.run(["--output-format", "files"]).status == 0)
            site.setBusy(false)
            try FileManager.default.removeItem(atPath: "\(site.folder)/00000/0000005.json")
            let before = try contents(site.folder)
            let result = try await site.run(["--output-format", "files", "--retry-failed"])
            #expect(result.status == 74)
            #expect(result.errors.contains("\(site.folder)/00000"))
            #expect(try contents(site.folder) == before)
        }
    }
}
