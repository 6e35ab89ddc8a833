internal import Threading

/// A gate that holds responses: initially closed, opened once by the test, and never closed again.
///
/// One gate can hold any number of responses.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// Creates a closed gate.
    public init() {}

    /// Releases everything that waits at the gate, now or later.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    /// Calls `resume` once: immediately if the gate is open, otherwise from the thread that opens it.
    func whenOpen(_ resume: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(resume) }
            return state.isOpen
        }
        if isOpen { resume() }
    }
}
