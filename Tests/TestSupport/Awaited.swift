import Threading

/// A value that tests can wait for.
package final class Awaited<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: Int
        let isSatisfied: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var lastID = 0
        var waiters: [Waiter] = []
    }

    private let state: Locked<State>

    package init(_ value: Value) { state = Locked(State(value: value)) }

    /// The current value.
    package var value: Value { read { $0 } }

    /// Returns what `body` makes of the current value, which is not copied.
    package func read<Result: Sendable>(_ body: (Value) -> Result) -> Result { state.withLock { body($0.value) } }

    /// Changes the value, and resumes the tasks that wait for the new one.
    package func update(_ change: (inout Value) -> Void) {
        let satisfied = state.withLock { state in
            change(&state.value)
            guard !state.waiters.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            let value = state.value
            let satisfied = state.waiters.filter { $0.isSatisfied(value) }
            state.waiters.removeAll { $0.isSatisfied(value) }
            return satisfied.map(\.continuation)
        }
        for continuation in satisfied { continuation.resume() }
    }

    /// Returns when the value satisfies `isSatisfied`, or the task is canceled, as by a time limit.
    package func wait(until isSatisfied: @escaping @Sendable (Value) -> Bool) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if isSatisfied(state.value) || Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, isSatisfied: isSatisfied, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}
