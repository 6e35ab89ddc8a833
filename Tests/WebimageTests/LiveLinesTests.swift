import AsyncWebImage
import Foundation
import ImageEncoders
import LoopbackOrigin
import Testing

/// The built command, whose standard error is a terminal.
@Suite(.enabled(if: TestTerminal.isAvailable, "the system has no pseudoterminals"), .timeLimit(.minutes(2)))
struct LiveLinesTests {
    typealias Response = LoopbackOrigin.Response

    private func photograph() throws -> Response {
        Response(body: try #require(testPhotograph).encoded(as: .jpeg))
    }

    /// Runs the command by a script until it ends by itself.
    private func run(
        _ arguments: [String], on terminal: TestTerminal, by redirection: String = "",
        whileRunning: (Command) async throws -> Void = { _ in }
    ) async throws -> Command.Result {
        let result = try await Command.run(
            arguments, environment: ["TERM": "xterm"], by: "exec \"$@\" 2>\(terminal.path) \(redirection)"
        ) { command in
            try await whileRunning(command)
            while !Task.isCancelled, await !command.ends(within: .milliseconds(1)) { terminal.receive() }
        }
        terminal.receive()
        return result
    }

    @Test func noEmptyLineFollowsTheSummaryOfAnInterruptedRun() async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/*", file.stalled(at: .body(10)))
            try await withTemporaryFolder { folder in
                let terminal = try TestTerminal()
                let urls = ["/a.jpg", "/b.jpg"].map { origin.url($0) }
                let result = try await run(["get", "-o", folder] + urls, on: terminal) { command in
                    await origin.counts { $0.totalRequests == 2 }
                    command.interrupt()
                }
                #expect(result.status == 130)
                let text = String(decoding: terminal.bytes, as: UTF8.self)
                #expect(text.contains("0 images, "))
                #expect(!terminal.bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), "\(text.debugDescription)")
            }
        }
    }

    @Test(arguments: [false, true]) func resultThatCannotBeWrittenFailsTheCommand(waitsForList: Bool) async throws {
        let file = try photograph()
        try await withLoopbackOrigin { origin in
            origin.route("/*", file)
            try await withTemporaryFolder { folder in
                let terminal = try TestTerminal()
                let pipe = folder + "/list"
                try #require(mkfifo(pipe, 0o600) == 0)
                // The list does not end while this is open.
                let writer = open(pipe, O_RDWR)
                defer { close(writer) }
                let options = ["get", "-o", folder, origin.url("/a.jpg")] + (waitsForList ? ["--input", pipe] : [])
                let result = try await run(options, on: terminal, by: ">/dev/full")
                #expect(result.status == 1)
                let text = String(decoding: terminal.bytes, as: UTF8.self)
                #expect(text.contains("webimage: cannot write to standard output: No space left on device"), "\(text)")
            }
        }
    }
}
