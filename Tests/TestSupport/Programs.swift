import Foundation
package import Glibc

/// Programs of the system that run beside the tests, without output.
///
/// Foundation's `Process` waits on threads the tests need.
package enum Programs {
    /// A program is missing or failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Returns whether `name` is installed.
    package static func has(_ name: String) -> Bool { path(of: name) != nil }

    /// Starts a program; the caller must ``end(_:)`` it.
    package static func start(_ name: String, _ arguments: [String]) throws -> pid_t {
        guard let program = path(of: name) else { throw Failure(description: "\(name) is not installed") }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        let words = unsafe ([program] + arguments).map { unsafe strdup($0) }
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let status = unsafe posix_spawn(&process, program, &actions, nil, words + [nil], [nil])
        guard status == 0 else { throw Failure(description: "\(name) does not start (\(status))") }
        return process
    }

    /// Kills a program.
    ///
    /// The threads of the pool block other signals, and their children inherit that.
    package static func end(_ process: pid_t) {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Returns whether a program has ended by itself; then it must not be passed to ``end(_:)``.
    package static func hasEnded(_ process: pid_t) -> Bool { waitpid(process, nil, WNOHANG) != 0 }

    /// Runs a program to its end; throws if it fails.
    package static func run(_ name: String, _ arguments: [String]) throws {
        var status: Int32 = 0
        let process = try start(name, arguments)
        guard unsafe waitpid(process, &status, 0) == process, status == 0 else {
            throw Failure(description: "\(name) \(arguments.first ?? "") failed (\(status))")
        }
    }

    private static func path(of name: String) -> String? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
