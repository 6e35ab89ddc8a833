import Threading

/// A number of things that have happened, which tests can wait for.
package final class Tally: Sendable {
    private struct Waiter {
        let id: Int
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var count = 0
        var lastID = 0
        var waiters: [Waiter] = []
    }

    private let state = Locked(State())

    package init() {}

    /// The number so far.
    package var count: Int { state.withLock { $0.count } }

    /// One more thing has happened.
    package func add() {
        let reached = state.withLock { state in
            state.count += 1
            let count = state.count
            let reached = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return reached.map(\.continuation)
        }
        for continuation in reached { continuation.resume() }
    }

    /// Returns when `count` things have happened, or the task is canceled, as by a time limit.
    package func reaches(_ count: Int) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.count >= count || Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, count: count, continuation: continuation))
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

    /// Returns whether `count` things happen within `duration`.
    package func reaches(_ count: Int, within duration: Duration) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.reaches(count) }
            group.addTask { try? await Task.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
        return self.count >= count
    }
}
