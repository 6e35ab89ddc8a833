import Dispatch
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Ctrl-C and the polite kill.
///
/// The first cancels the work, which then cleans up after itself; a later one ends the process on the spot. What comes
/// within half a second of the first is one with it: `timeout`, for one, signals its child and then their whole group.
package enum Interruption {
    /// The work was interrupted; the shell's convention is the exit status 128 + `signal`.
    package struct Interrupted: Error {
        package let signal: Int32
        package var exitStatus: Int32 { 128 + signal }
    }

    /// What `body` returns.
    ///
    /// A signal that the process was started to ignore, as `nohup` and shells without job control have it, stays ignored.
    /// Throws `Interrupted` if a signal came, after `body` has ended.
    package static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let received = Received()
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let before = signal(number, SIG_IGN)
            if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { received.take(number) }
            // A signal that came before would be ignored for good.
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.activate()
            }
            sources.append(source)
        }
        let work = Task { try await body() }
        received.whenFirst { work.cancel() }
        let result = await work.result
        for source in sources { source.cancel() }
        if let number = received.first { throw Interrupted(signal: number) }
        return try result.get()
    }

    /// The signals so far.
    private final class Received: Sendable {
        private struct State {
            var first: (signal: Int32, at: ContinuousClock.Instant)?
            var action: (@Sendable () -> Void)?
        }

        private let state = Locked(State())

        var first: Int32? { state.withLock { $0.first?.signal } }

        /// Calls `action` with the first signal, or now if it has come.
        func whenFirst(_ action: @escaping @Sendable () -> Void) {
            let isFirst = state.withLock { state in
                state.action = action
                return state.first != nil
            }
            if isFirst { action() }
        }

        func take(_ number: Int32) {
            let action = state.withLock { state -> (@Sendable () -> Void)? in
                let now = ContinuousClock.now
                guard let first = state.first else {
                    state.first = (number, now)
                    return state.action
                }
                if now - first.at >= .milliseconds(500) { _exit(128 + number) }
                return nil
            }
            action?()
        }
    }
}
