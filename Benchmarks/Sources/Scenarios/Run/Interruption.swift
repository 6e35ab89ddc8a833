import Dispatch
import Glibc
import Synchronization

/// Handles SIGINT, SIGTERM, and SIGHUP by canceling the work, which ends the processes it has started.
enum Interruption {
    /// The error when a signal interrupts the work.
    struct Interrupted: Error {
        /// The exit status by the shell's convention: 128 plus the signal number.
        let exitStatus: Int32
    }

    /// Runs `body` and returns its result.
    ///
    /// Throws `Interrupted` after `body` has ended if a signal was received.
    static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let received = Received()
        let work = Task { try await body() }
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                received.signal.store(number, ordering: .relaxed)
                work.cancel()
            }
            source.activate()
            return source
        }
        let result = await work.result
        for source in sources { source.cancel() }
        let number = received.signal.load(ordering: .relaxed)
        if number != 0 { throw Interrupted(exitStatus: 128 + number) }
        return try result.get()
    }

    private final class Received: Sendable {
        let signal = Atomic<Int32>(0)
    }
}
