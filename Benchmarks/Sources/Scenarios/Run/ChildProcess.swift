import FoundationEssentials
import Subprocess
import SystemPackage

/// Child processes in their own sessions, which are killed with their descendants at a deadline or when the task that
/// waits for them is canceled.
enum ChildProcess {
    /// The error when a process produces no result.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the path of this program.
    static func ownPath() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    /// Returns the output of `program`, once it has ended successfully.
    ///
    /// Throws `Failure` if it fails or does not end before the deadline.
    static func output(of program: String, _ arguments: [String], deadline: Duration) async throws -> String {
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { try await output(of: program, arguments) }
            group.addTask {
                try await Task.sleep(for: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let output = first else {
                throw Failure(description: "not done after \(DecimalText.text(deadline.seconds, decimals: 0)) s")
            }
            return output
        }
    }

    private static func output(of program: String, _ arguments: [String]) async throws -> String {
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments), platformOptions: options,
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        switch result.terminationStatus {
        case .exited(0): return result.standardOutput
        case .exited(let status):
            throw Failure(description: result.standardError.lastLine ?? "exit status \(status)")
        case .signaled(let signal):
            throw Failure(description: "signal \(signal)")
        }
    }

    /// Runs `body` while `program` runs, then kills the program and returns the result of `body`.
    ///
    /// `body` receives the program's output line by line.
    static func running<Result: Sendable>(
        _ program: String, _ arguments: [String],
        _ body: (SubprocessOutputSequence.StringSequence<UTF8>) async throws -> Result
    ) async throws -> Result {
        try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments), platformOptions: options,
            input: .none, output: .sequence, error: .discarded
        ) { execution in
            let result = try await body(execution.standardOutput.strings())
            await execution.teardown(using: options.teardownSequence)
            return result
        }
        .closureResult
    }

    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)]
        return options
    }
}

extension String {
    /// The last line that is not blank, without the prefix "Error: ".
    fileprivate var lastLine: String? {
        split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }
            .map { String($0.trimmingPrefix("Error: ")) }
    }
}
