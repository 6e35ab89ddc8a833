import Threading

/// Notifies listeners that the loader is shut down.
final class ShutdownSignal: Sendable {
    private struct State {
        var isSet = false
        var listeners: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    /// Calls `listener` once: on shutdown, or immediately if it has happened.
    func add(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
        let (id, isSet) = state.withLock { state in
            state.last += 1
            if !state.isSet { state.listeners[state.last] = listener }
            return (state.last, state.isSet)
        }
        if isSet { listener() }
        return id
    }

    func remove(_ id: UInt64) {
        state.withLock { $0.listeners[id] = nil }
    }

    func give() {
        let listeners = state.withLock { state in
            state.isSet = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener() }
    }
}
