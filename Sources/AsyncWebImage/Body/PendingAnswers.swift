import Threading

/// The bodies that tasks are combining for their callers, for which a shutdown waits.
final class PendingAnswers: Sendable {
    private struct State {
        var count = 0
        var whenNone: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Notes that the combination of a body begins; ``end()`` follows.
    func begin() { state.withLock { $0.count += 1 } }

    /// Notes that the callers of a body have been answered.
    func end() {
        let call = state.withLock { state -> (@Sendable () -> Void)? in
            state.count -= 1
            return state.count == 0 ? state.whenNone.take() : nil
        }
        call?()
    }

    /// Calls `call` once there are none, possibly immediately; a later call replaces it.
    func whenNone(_ call: @escaping @Sendable () -> Void) {
        let areNone = state.withLock { state in
            if state.count > 0 { state.whenNone = call }
            return state.count == 0
        }
        if areNone { call() }
    }
}
