internal import Threading

/// Something a response waits for: closed at first, opened once by the test, never closed again.
///
/// One gate may hold any number of responses.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// A closed gate.
    public init() {}

    /// Lets everything that waits here, or comes later, go on.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    /// Calls `resume` once: now if the gate is open, otherwise from the thread that opens it.
    func whenOpen(_ resume: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(resume) }
            return state.isOpen
        }
        if isOpen { resume() }
    }
}
