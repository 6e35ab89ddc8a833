import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Ctrl-C and the polite kill.
///
/// The first cancels the work, which then cleans up after itself; the second ends the process on the spot.
enum Interruption {
    /// The work was interrupted; the shell's convention is the exit status 128 + `signal`.
    struct Interrupted: Error {
        let signal: Int32
        var exitStatus: Int32 { 128 + signal }
    }

    /// What `body` returns.
    ///
    /// Throws `Interrupted` if a signal came, after `body` has ended.
    static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let received = Received()
        let work = Task { try await body() }
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                if received.signal.exchange(number, ordering: .relaxed) != 0 { _exit(128 + number) }
                work.cancel()
            }
            source.activate()
            return source
        }
        let result = await work.result
        for source in sources { source.cancel() }
        let number = received.signal.load(ordering: .relaxed)
        if number != 0 { throw Interrupted(signal: number) }
        return try result.get()
    }

    private final class Received: Sendable {
        let signal = Atomic<Int32>(0)
    }
}
