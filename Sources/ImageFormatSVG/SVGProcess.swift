#if SVG
import Glibc
import ImageCodecs

/// A process that gets a file, writes an output, and is ended.
final class SVGProcess {
    /// The time after which cancellation is looked for again, in milliseconds.
    private static let interval = 50

    private let process: pid_t
    /// One end of a socket pair, whose other end is both the standard input and the standard output.
    private let socket: CInt

    /// Starts `program` with an empty environment.
    init(_ program: String, _ arguments: [String]) throws(CodecError) {
        var ends: [CInt] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Self.failure("no socket", errno)
        }
        defer { close(ends[1]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var process: pid_t = 0
        let result = unsafe posix_spawn(&process, program, &actions, nil, &words, &environment)
        guard result == 0 else {
            close(ends[0])
            throw Self.failure("\(program) cannot be started", result)
        }
        self.process = process
        socket = ends[0]
    }

    deinit {
        close(socket)
        kill(process, SIGKILL)
        var status: CInt = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    /// Writes `input`, and returns the output, at most `length` bytes: until its end, or until the time has passed.
    func output(for input: Span<UInt8>, length: Int, timeLimit: Duration) throws(CodecError) -> [UInt8] {
        let deadline = ContinuousClock.now + timeLimit
        var output: [UInt8] = []
        output.reserveCapacity(length)
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var sent = 0
        if input.isEmpty { shutdown(socket, CInt(SHUT_WR)) }
        while output.count < length {
            if Task.isCancelled { throw .cancelled(.svg) }
            guard ContinuousClock.now < deadline else { return [] }
            let waitsForSpace = sent < input.count
            var state = pollfd(fd: socket, events: Int16(POLLIN | (waitsForSpace ? POLLOUT : 0)), revents: 0)
            guard unsafe poll(&state, 1, CInt(Self.interval)) > 0 else { continue }
            if waitsForSpace, state.revents & Int16(POLLOUT) != 0 {
                let rest = input.extracting(sent..<input.count)
                let count = unsafe rest.withUnsafeBytes { bytes in
                    unsafe send(
                        socket, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
                }
                sent += max(count, 0)
                if sent == input.count { shutdown(socket, CInt(SHUT_WR)) }
            }
            guard state.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { continue }
            let count = unsafe recv(
                socket, &piece, min(piece.count, length - output.count), CInt(MSG_DONTWAIT))
            if count > 0 {
                output += piece[..<count]
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                return output
            }
        }
        return output
    }

    private static func failure(_ what: String, _ code: CInt) -> CodecError {
        .unsupportedFeature(.svg, "\(what): \(unsafe String(cString: strerror(code)))")
    }
}
#endif
