import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import webimage

/// `webimage batch --post-shard`.
@Suite(
    .enabled(if: !Command.isSlow, "the commands they start take minutes under a sanitizer"), .timeLimit(.minutes(3))
)
struct ShardCommandTests {
    /// Runs `body` with a list of 25 lines, and a folder; the shards have 10 lines each.
    private func withList(
        _ body: (_ list: String, _ folder: String, _ options: [String]) async throws -> Void
    ) async throws {
        let file = try #require(testPhotograph).encoded(as: .jpeg)
        try await withLoopbackOrigin { origin in
            origin.route("/*", LoopbackOrigin.Response(body: file))
            let list = (0..<25).map { origin.url("/\($0)") }.joined(separator: "\n")
            try await withTemporaryFolder { folder in
                let options = ["batch", "--input", "-", "--output", folder + "/out", "--samples-per-shard", "10"]
                try await body(list, folder, options + ["--post-shard"])
            }
        }
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func theFilesOfEveryShardAreItsArguments() async throws {
        try await withList { list, folder, options in
            let copy = "\(folder)/copy $0"
            let command = "test ! -e \(folder)/out/$(basename \"$1\" .tar)_stats.json && cp -- \"$@\" '\(copy)'"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            let result = try await Command.run(options + [command], input: list)
            #expect(result.status == 0, "\(result.errors)")
            let shards = ["00000", "00001", "00002"]
            #expect(try names(copy) == shards.flatMap { ["\($0).jsonl", "\($0).tar"] })
            let files = shards.flatMap { ["\($0).jsonl", "\($0).tar", "\($0)_stats.json"] }
            #expect(try names(folder + "/out") == (files + ["00000_list.json", "run.json"]).sorted())
            #expect(FileManager.default.contentsEqual(atPath: copy + "/00001.tar", andPath: folder + "/out/00001.tar"))
        }
    }

    @Test func aShardWhoseCommandFailsIsMadeAgain() async throws {
        try await withList { list, folder, options in
            let failing = try await Command.run(options + ["case $1 in *00001*) exit 3;; esac"], input: list)
            #expect(failing.status == 74)
            let message = "the command of --post-shard ended with exit status 3 for the shard 00001"
            #expect(failing.errors.contains(message), "\(failing.errors)")
            #expect(try !names(folder + "/out").contains { $0.hasPrefix("00001") })
            let again = try await Command.run(options + ["echo $1 >> \(folder)/shards"], input: list)
            #expect(again.status == 0)
            let shards = try String(contentsOfFile: folder + "/shards", encoding: .utf8)
            #expect(shards.contains("out/00001.tar\n"))
            #expect(try names(folder + "/out").filter { $0.hasSuffix("_stats.json") }.count == 3)
        }
    }

    @Test func anInterruptionEndsTheCommandAfterTheGracePeriod() async throws {
        try await withList { list, folder, options in
            // The shell has a child of its own.
            let command = "trap 'echo ended >> \(folder)/ended' TERM; echo > \(folder)/begun; sleep 100 & wait; exit 0"
            let result = try await Command.run(options + [command, "--grace", "0.2"], input: list) { running in
                while !FileManager.default.fileExists(atPath: folder + "/begun"),
                    await !running.ends(within: .milliseconds(5))
                {}
                running.interrupt()
            }
            #expect(result.status == 130)
            #expect(try names(folder + "/out") == ["00000_list.json", "run.json"])
            #expect(FileManager.default.fileExists(atPath: folder + "/ended"))
        }
    }

    @Test func commandThatIgnoresTerminationIsKilled() async throws {
        try await withTemporaryFolder { folder in
            let begun = folder + "/begun"
            let command = ShardCommand(
                text: "trap '' TERM; : > '\(begun)'; while :; do sleep 100; done",
                terminationTime: .milliseconds(100))
            let running = Task { try await command.run([], shard: "00000") }
            while !FileManager.default.fileExists(atPath: begun), !Task.isCancelled { await Task.yield() }
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
        }
    }

    @Test func theCommandIsUnaffectedByTheSignalsThatThisProcessIgnores() async throws {
        try await withList { list, folder, options in
            // With SIGPIPE ignored, yes would report an error.
            let result = try await Command.run(options + ["yes | head -n 1 > /dev/null"], input: list)
            #expect(result.status == 0)
            #expect(!result.errors.contains("Broken pipe"))
        }
    }

    @Test func postShardAppliesOnlyToFolders() async throws {
        let result = try await Command.run(
            ["batch", "--input", "-", "--output", "-", "--post-shard", "true"], input: "")
        #expect(result.status == 64)
        #expect(result.errors.contains("--post-shard applies to a folder."))
    }
}
