import Testing

@testable import Scenarios

@Suite struct CommandRunTests {
    private func shell(_ script: String) throws -> Command { Command(try Tool("sh"), ["-c", script]) }

    @Test func commandUsageIncludesItsChildren() throws {
        let usage = try shell("sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'; true").run()
        #expect(usage.cpu > .zero)
        #expect(usage.wall > .zero)
    }

    @Test(arguments: [("exit 3", "exit status 3 of "), ("kill -TRAP $$", "signal 5 ended ")])
    func failedCommandThrowsItsReason(script: String, reason: String) throws {
        let command = try shell(script)
        #expect {
            _ = try command.run()
        } throws: {
            "\($0)" == reason + command.tool.path
        }
    }

    @Test func nonExecutableFileIsNotStarted() throws {
        let command = Command(try Tool(at: "/dev/null", remedy: ""), [])
        #expect(throws: Command.Failure.self) { try command.run() }
    }

    /// A child process is as large as its parent initially.
    @Test(.enabled(if: Tool.installed("time") != nil))
    func memoryOfAChildProcessExcludesItsParent() async throws {
        try await withTemporaryFolder { folder in
            let peak = try Command(try Tool("true"), []).runForMemory(scratch: folder).peakMemory
            #expect((100_000..<4_000_000).contains(try #require(peak)))
        }
    }
}
