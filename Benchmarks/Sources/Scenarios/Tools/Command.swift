import Glibc

/// A tool with its arguments, whose output is discarded and whose errors go to standard error.
///
/// `posix_spawn` starts it without the overhead of a library, because some tools take only milliseconds.
struct Command: Hashable, Sendable {
    let tool: Tool
    let arguments: [String]

    init(_ tool: Tool, _ arguments: [String]) {
        self.tool = tool
        self.arguments = arguments
    }

    /// Runs the command and returns the usage of the process and its descendants.
    ///
    /// Throws `Failure` unless it ends with status 0.
    func run() throws -> Usage {
        let started = ContinuousClock.now
        let process = try spawn()
        var (status, usage): (Int32, rusage) = (0, rusage())
        while unsafe wait4(process, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw Failure("cannot wait for", tool) }
        }
        // The low seven bits of the status are the signal, if any.
        guard status & 0x7F == 0 else { throw Failure("signal \(status & 0x7F) ended", tool) }
        guard status == 0 else { throw Failure("exit status \(status >> 8) of", tool) }
        return Usage(
            wall: .now - started, cpu: usage.cpu, pageFaults: usage.ru_minflt, contextSwitches: usage.contextSwitches,
            allocations: nil)
    }

    private func spawn() throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_WRONLY)] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", mode, 0)
        }
        var words = unsafe ([tool.path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process = pid_t()
        let error = unsafe posix_spawn(&process, tool.path, &actions, nil, &words, environ)
        guard error == 0 else {
            throw Failure("cannot start (\(unsafe String(cString: strerror(error))))", tool)
        }
        return process
    }

    /// The error when a tool fails.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ tool: Tool) {
            description = "\(what) \(tool.path)"
        }
    }
}
