import Dispatch
import Threading

import Glibc

/// Handles the signals SIGINT, SIGTERM, and SIGHUP.
///
/// The first signal cancels the work, which then cleans up; a later one ends the process immediately. Signals within
/// half a second of the first count as the same: `timeout`, for example, signals its child and then the whole group.
package enum Interruption {
    /// The error when the work was interrupted; by convention, the exit status is 128 + `signal`.
    package struct Interrupted: Error {
        package let signal: Int32
        package var exitStatus: Int32 { 128 + signal }
    }

    /// Runs `body` in a task that the first signal cancels, and returns its result.
    ///
    /// Signals that are already ignored, for example because the process was started by `nohup` or by a shell without
    /// job control, stay ignored. Throws `Interrupted` if a signal was received, after `body` has ended. `beforeExit`
    /// is called before a later signal ends the process, while `body` still runs.
    package static func cancelling<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result,
        beforeExit: @escaping @Sendable () -> Void = {}
    ) async throws -> Result {
        let received = Received(beforeExit: beforeExit)
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM, SIGHUP] {
            guard !isIgnored(number) else { continue }
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { received.take(number) }
            // Until then, the signal ends the process as usual. If it was ignored already, it would be lost.
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

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe action.__sigaction_handler.sa_handler
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The signals received so far.
    private final class Received: Sendable {
        private struct State {
            var first: (signal: Int32, at: ContinuousClock.Instant)?
            var action: (@Sendable () -> Void)?
        }

        private let state = Locked(State())
        private let beforeExit: @Sendable () -> Void

        init(beforeExit: @escaping @Sendable () -> Void) {
            self.beforeExit = beforeExit
        }

        var first: Int32? { state.withLock { $0.first?.signal } }

        /// Calls `action` on the first signal, or immediately if it has been received.
        func whenFirst(_ action: @escaping @Sendable () -> Void) {
            let isFirst = state.withLock { state in
                state.action = action
                return state.first != nil
            }
            if isFirst { action() }
        }

        func take(_ number: Int32) {
            let (action, isLast) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
                let now = ContinuousClock.now
                guard let first = state.first else {
                    state.first = (number, now)
                    return (state.action, false)
                }
                return (nil, now - first.at >= .milliseconds(500))
            }
            if isLast {
                beforeExit()
                _exit(128 + number)
            }
            action?()
        }
    }
}
