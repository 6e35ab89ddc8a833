import Foundation
import TestSupport
import Testing

@testable import webimage

/// The built command with `batch --verify`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct FolderVerifierTests {
    private func verify(_ folder: String) async throws -> Command.Result {
        try await Command.run(["batch", "--verify", folder])
    }

    @Test(arguments: [
        ("webdataset", "true", []),
        ("webdataset", "truncate -s 600 00000.tar", ["00000.tar: it has 600 bytes instead of "]),
        ("webdataset", "rm 00001.jsonl", ["00001.jsonl: it is missing"]),
        ("webdataset", "printf x | dd of=00001.tar bs=1 seek=700 conv=notrunc", ["00001.tar: its SHA-256 is "]),
        ("webdataset", "rm 00001_stats.json", ["00001.jsonl: no marker", "00001.tar: no marker"]),
        ("webdataset", "echo [ > 00001_stats.json", ["00001_stats.json: it is damaged", "00001.jsonl: no marker"]),
        ("webdataset", "mkdir 00003_stats.json", ["00003_stats.json: it is damaged"]),
        ("webdataset", "rm 0000[0-2]*", ["it has no complete shards"]),
        (
            "webdataset", "cp 00001_stats.json .00001_stats.json.new",
            ["00001_stats.json.new: the shard is being replaced"]
        ),
        ("files", "true", []),
        ("files", "rm 00000/0000005.jpg", ["00000: it has 31 files instead of 32"]),
        ("files", "printf x >> 00002/0000200.json", ["00002: its SHA-256 is "]),
        ("none", "rm 00001.jsonl", ["00001.jsonl: it is missing"]),
    ])
    func everyDifferenceToAMarkerIsALine(format: String, damage: String, faults: [String]) async throws {
        try await BatchRetryTests().withSite(50) { site in
            #expect(try await site.run(["--output-format", format]).status == 0)
            _ = try await Command.run([], by: "cd \(site.folder) && \(damage)")
            let result = try await verify(site.folder)
            #expect(result.status == (faults.isEmpty ? 0 : 1))
            for fault in faults { #expect(result.output.contains(fault), "\(result.output)") }
            #expect(result.output.isEmpty == faults.isEmpty, "\(result.output)")
            if faults.isEmpty { #expect(result.errors.contains("3 complete shards, ")) }
        }
    }

    @Test func markersOfThePythonPackageHaveSizesOnly() async throws {
        try await withTemporaryFolder { folder in
            try Data(#"{"count":1,"files":{"00000.parquet":{"bytes":3}}}"#.utf8)
                .write(to: URL(fileURLWithPath: folder + "/00000_stats.json"))
            try Data("abc".utf8).write(to: URL(fileURLWithPath: folder + "/00000.parquet"))
            #expect(try await verify(folder).status == 0)
            try Data("ab".utf8).write(to: URL(fileURLWithPath: folder + "/00000.parquet"))
            #expect(try await verify(folder).output == "00000.parquet: it has 2 bytes instead of 3\n")
        }
    }

    @Test func folderThatCannotBeReadIsAnError() async throws {
        let result = try await verify("/nowhere")
        #expect(result.status == 74)
        #expect(result.errors.contains("/nowhere"))
    }

    @Test(arguments: [
        (["--verify", "/tmp", "--input", "-"], "--verify reads a folder only; remove the other options: --input."),
        (["--output", "-"], "add --input"), (["--input", "-"], "add --output"), ([], "add --input"),
    ])
    func verifyingNeedsNoListAndEverythingElseDoes(options: [String], message: String) async throws {
        let result = try await Command.run(["batch"] + options)
        #expect(result.status == 64)
        #expect(result.errors.contains(message), "\(result.errors)")
    }
}
