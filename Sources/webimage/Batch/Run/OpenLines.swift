import Threading

/// The tasks that process open lines (see ``LineWindow``); they continue when the reading task is canceled.
final class OpenLines: Sendable {
    private struct State {
        var lastID = 0
        var tasks: [Int: Task<Void, Never>] = [:]
        var ended: Set<Int> = []
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())
    private let workers: ThreadPool

    init(on workers: ThreadPool) {
        self.workers = workers
    }

    /// The number of tasks that have not ended.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Starts a task.
    func start(_ body: sending @escaping () async -> Void) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let task = Task(executorPreference: workers) {
            await body()
            self.end(id)
        }
        let isCancelled = state.withLock { state in
            // It may have ended already.
            if state.ended.remove(id) == nil { state.tasks[id] = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func end(_ id: Int) {
        state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.tasks.removeValue(forKey: id) == nil { state.ended.insert(id) }
            guard state.tasks.isEmpty else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }

    /// Cancels all tasks, including those started later.
    func cancelAll() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Waits until all tasks have ended, after the last one has been started.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                guard !state.tasks.isEmpty else { return true }
                state.waiter = continuation
                return false
            }
            if isFinished { continuation.resume() }
        }
    }
}
