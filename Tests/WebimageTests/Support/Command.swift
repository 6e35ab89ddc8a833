import Foundation
import TestSupport
import Testing
import Threading

@testable import webimage

/// The built `webimage`, started as a process.
///
/// `posix_spawn` is used because Foundation's `Process` leaks, which leak checking reports.
struct Command {
    struct Result {
        let status: Int32
        let outputBytes: [UInt8]
        let errors: String

        var output: String { String(decoding: outputBytes, as: UTF8.self) }
    }

    private let process: pid_t
    private let ending = Tally()

    /// The resident memory of the process, in bytes.
    var residentBytes: Int { ProcessState.residentBytes(of: process) }

    /// Interrupts the command, as Ctrl-C does.
    func interrupt() { send(SIGINT) }

    /// Sends a signal to the command.
    func send(_ signal: Int32) { kill(process, signal) }

    /// Returns whether the command has ended, or ends within `duration`.
    func ends(within duration: Duration) async -> Bool {
        await ending.reaches(1, within: duration)
    }

    /// Runs the command to its end.
    ///
    /// `environment` replaces variables of this process. `script` is the shell script that starts the command as
    /// `"$@"`. `whileRunning` is called while the command runs. With `closesOutput`, its output is closed.
    static func run(
        _ arguments: [String], input: [UInt8], closesOutput: Bool = false, environment: [String: String] = [:],
        by script: String? = nil, whileRunning: (Command) async throws -> Void = { _ in }
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            try Data(input).write(to: URL(fileURLWithPath: folder + "/input"))
            var pipe: [Int32] = [-1, -1]
            #expect(Foundation.pipe(&pipe) == 0)
            close(pipe[0])
            defer { close(pipe[1]) }
            let command = try spawn(
                arguments, environment, script, in: folder, output: closesOutput ? pipe[1] : nil)
            try await whileRunning(command)
            let status = await command.waitForExit()
            func bytes(_ name: String) throws -> [UInt8] {
                // Not Foundation, which leaks a page for every empty file it reads.
                try ImageFile(path: "\(folder)/\(name)").bytes()
            }
            return Result(
                status: status, outputBytes: try bytes("output"),
                errors: String(decoding: try bytes("errors"), as: UTF8.self))
        }
    }

    /// Runs the command to its end, with text as input.
    static func run(
        _ arguments: [String], input: String = "", closesOutput: Bool = false, environment: [String: String] = [:],
        by script: String? = nil, whileRunning: (Command) async throws -> Void = { _ in }
    ) async throws -> Result {
        try await run(
            arguments, input: Array(input.utf8), closesOutput: closesOutput, environment: environment, by: script,
            whileRunning: whileRunning)
    }

    /// The path of another build of the command, such as one for release, which tests with a sanitizer can use.
    private static let otherPath = ProcessInfo.processInfo.environment["WEBIMAGE"]

    /// A Boolean value that indicates whether many commands take minutes, because they have a sanitizer.
    static var isSlow: Bool { Sanitizer.isActive && otherPath == nil }

    /// The tests and the command are built into one folder.
    private static var path: String {
        get throws {
            if let otherPath { return otherPath }
            let tests = try #require(Bundle.main.executableURL)
            return tests.deletingLastPathComponent().appendingPathComponent("webimage").path
        }
    }

    private static func spawn(
        _ arguments: [String], _ changes: [String: String], _ script: String?, in folder: String, output: Int32?
    ) throws -> Command {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, folder + "/input", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder + "/output", O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder + "/errors", O_WRONLY | O_CREAT, 0o600)
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        // As from a terminal, the command does not inherit sockets. Closing descriptors that are not open is harmless.
        for descriptor in Int32(3)..<250 { posix_spawn_file_actions_addclose(&actions, descriptor) }

        let command = [try path] + arguments
        let words = script.map { ["/bin/sh", "-c", $0, "sh"] + command } ?? command
        let path = words[0]
        var strings = words.map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        let environment = ProcessInfo.processInfo.environment.merging(changes) { $1 }
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for variable in variables { free(variable) } }

        // As from a terminal, regardless of the signals that this process ignores or its threads block.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var process: pid_t = 0
        let status = posix_spawn(&process, path, &actions, &attributes, &strings, &variables)
        try #require(status == 0, "\(path): \(String(cString: strerror(status)))")
        return try Command(process: process)
    }

    private init(process: pid_t) throws {
        self.process = process
        try startThread(named: "test-command") { [ending] in
            var info = siginfo_t()
            // The process remains a zombie, so that no other process gets its number.
            while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            ending.add()
        }
    }

    private func waitForExit() async -> Int32 {
        await ending.reaches(1)
        // A test over its time limit does not wait for it.
        if Task.isCancelled { send(SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
