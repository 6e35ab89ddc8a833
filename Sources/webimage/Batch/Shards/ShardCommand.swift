import Threading
import WebimageConsole

@unsafe @preconcurrency import Glibc

/// A shell command that is run for each shard whose files are complete, before its marker is written.
struct ShardCommand: Sendable {
    /// The text, which the shell gets with the paths of the files as its arguments.
    let text: String
    /// The time after SIGTERM in which the command must end, before it gets SIGKILL.
    var terminationTime = Duration.seconds(5)

    /// Runs the command for the shard with this name, and waits until it ends.
    ///
    /// If the task is canceled, the command and the processes that it has started get SIGTERM, and later SIGKILL unless
    /// the command has ended. Throws ``FileError`` unless the exit status is 0, and `CancellationError`.
    func run(_ paths: [String], shard: String) async throws {
        let process = try RunningProcess(["/bin/sh", "-c", text, "sh"] + paths)
        let status = await withTaskCancellationHandler {
            await withCheckedContinuation { (ended: CheckedContinuation<Int32, Never>) in
                do {
                    try startThread(named: "webimage-shard") { ended.resume(returning: process.wait()) }
                } catch {
                    // Better to occupy this thread than to forget the process.
                    ended.resume(returning: process.wait())
                }
            }
        } onCancel: {
            process.signal(SIGTERM)
            // Not structured, because it must not delay the end of a command that obeys.
            Task.detached { [terminationTime] in
                try? await Task.sleep(for: terminationTime)
                process.signal(SIGKILL)
            }
        }
        try Task.checkCancellation()
        guard status == 0 else {
            let signal = status & 0x7F
            let end = signal == 0 ? "with exit status \(status >> 8 & 0xFF)" : "by signal \(signal)"
            throw FileError(description: "the command of --post-shard ended \(end) for the shard \(shard)")
        }
    }
}

/// A process of a group of its own, so that it is not interrupted from the terminal along with this one.
private final class RunningProcess: Sendable {
    private let id: pid_t
    private let hasEnded = Locked(false)

    /// Starts the program at the path `words[0]` without input.
    init(_ words: [String]) throws(FileError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // This process ignores or handles them, and a child would inherit that.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGXFSZ, SIGINT, SIGTERM] { unsafe sigaddset(&signals, signal) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

        var strings = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe strings.forEach { unsafe free($0) } }
        var id: pid_t = 0
        let status = unsafe posix_spawn(&id, words[0], &actions, &attributes, &strings, environ)
        guard status == 0 else { throw FileError("run", words[0], code: status) }
        self.id = id
    }

    /// Blocks until the process has ended, and returns its status, as `waitpid` does; call this method once.
    func wait() -> Int32 {
        var info = unsafe siginfo_t()
        // Until its status is taken, no other process gets its number.
        while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return hasEnded.withLock { hasEnded in
            hasEnded = true
            var status: Int32 = 0
            while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
            return status
        }
    }

    /// Sends a signal to the process and those that it has started, unless it has ended.
    func signal(_ signal: Int32) {
        hasEnded.withLock { hasEnded in
            if !hasEnded { kill(-id, signal) }
        }
    }
}
