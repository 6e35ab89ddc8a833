import Subprocess
import Testing

@testable import Scenarios

@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
    private func output(_ script: String, deadline: Duration = .seconds(50)) async throws -> String {
        try await ChildProcess.output(of: "/bin/sh", ["-c", script], deadline: deadline)
    }

    @Test func childProcessOutputIsItsStandardOutput() async throws {
        #expect(try await output("echo seen; echo unseen >&2") == "seen\n")
    }

    @Test(arguments: [
        ("echo 'Error: no more paper' >&2; exit 3", "no more paper"),
        ("exit 3", "exit status 3"),
        ("kill -TRAP $$", "signal 5"),
    ])
    func failedChildProcessThrowsItsReason(script: String, reason: String) async {
        await #expect {
            _ = try await output(script)
        } throws: {
            "\($0)" == reason
        }
    }

    @Test func hangingChildProcessIsKilledWithItsChildren() async throws {
        try await withTemporaryFolder { folder in
            await #expect {
                _ = try await output("echo $$ > \(folder)/id; sleep 600 & wait", deadline: .milliseconds(500))
            } throws: {
                "\($0)".hasPrefix("not done after")
            }
            let id = String(decoding: try File.read("\(folder)/id"), as: UTF8.self).filter(\.isNumber)
            #expect(!File.exists("/proc/\(id)"))
        }
    }

    @Test func backgroundProcessRunsUntilTheBodyEnds() async throws {
        let id = try await ChildProcess.running("/bin/sh", ["-c", "echo $$; sleep 600"]) { lines in
            for try await line in lines {
                let id = line.filter(\.isNumber)
                #expect(File.exists("/proc/\(id)"))
                return id
            }
            return ""
        }
        #expect(!id.isEmpty)
        #expect(!File.exists("/proc/\(id)"))
    }
}
