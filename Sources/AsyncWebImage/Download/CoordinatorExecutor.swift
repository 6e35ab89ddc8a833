import DequeModule
import Synchronization
import Threading

/// The serial executor of a ``DownloadCoordinator``, with the messages to it.
///
/// Unlike the default executor of actors, it can be entered by synchronous code: a thread that has a message handles it
/// itself while the coordinator is idle, so that no other thread must be woken for it. In all other cases, a task
/// handles all messages that have been posted by the time it runs, and the jobs of tasks that await the coordinator.
final class CoordinatorExecutor: SerialExecutor {
    private struct State {
        /// The messages that have not been taken, in the order in which they were posted.
        var messages: [CoordinatorMessage] = []
        /// The coordinator; it must live until it has taken the messages.
        var coordinator: DownloadCoordinator?
        var jobs: Deque<UnownedJob> = []
        /// A Boolean value that indicates whether a thread is using the coordinator, or a task will.
        var isBusy = false

        /// Returns whether the coordinator was idle, so that the calling thread must use it, or create a task that does.
        mutating func begin() -> Bool {
            defer { isBusy = true }
            return !isBusy
        }

        /// Returns `false` if there is more to do.
        mutating func end() -> Bool {
            guard messages.isEmpty, jobs.isEmpty else { return false }
            isBusy = false
            return true
        }
    }

    private let state = Locked(State())
    /// The number of the thread that is using the coordinator; 0 if there is none.
    private let thread = Atomic<UInt>(0)

    // MARK: Messages

    /// Adds a message for a task to handle.
    func post(_ message: CoordinatorMessage, to coordinator: DownloadCoordinator) {
        if add(message, to: coordinator) { createTask() }
    }

    /// Adds a message and handles it on this thread, unless the coordinator is busy.
    ///
    /// Messages that are posted meanwhile are left to a task, so that one thread is not kept by those of others.
    func process(_ message: CoordinatorMessage, on coordinator: DownloadCoordinator) {
        guard add(message, to: coordinator) else { return }
        performTurn(of: coordinator)
        if !state.withLock({ $0.end() }) { createTask() }
    }

    /// Moves all messages to `batch`, which is empty: the two change places, so that neither has to grow again.
    func takeMessages(into batch: inout [CoordinatorMessage]) {
        // Released outside of the lock.
        let coordinator = state.withLock { state in
            swap(&state.messages, &batch)
            return state.coordinator.take()
        }
        withExtendedLifetime(coordinator) {}
    }

    private func add(_ message: CoordinatorMessage, to coordinator: DownloadCoordinator) -> Bool {
        state.withLock { state in
            if state.messages.isEmpty { state.coordinator = coordinator }
            state.messages.append(message)
            return state.begin()
        }
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasIdle = state.withLock { state in
            state.jobs.append(job)
            return state.begin()
        }
        if wasIdle { createTask() }
    }

    func checkIsolated() {
        precondition(isCurrent, "not isolated to the coordinator")
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { thread.load(ordering: .relaxed) == currentThreadNumber() }

    // MARK: Execution

    /// Creates a task that uses the coordinator; no code awaits it.
    ///
    /// Detached, because it must not inherit the priority and the task-local values of a caller. Without a high
    /// priority, which would run it before other callers have posted, so that it would find fewer messages.
    private func createTask() {
        Task.detached { self.performAll() }
    }

    /// Performs jobs and turns until there are none.
    private func performAll() {
        repeat {
            let (job, coordinator) = state.withLock { ($0.jobs.popFirst(), $0.coordinator) }
            if let job {
                enter { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            } else if let coordinator {
                performTurn(of: coordinator)
            }
        } while !state.withLock { $0.end() }
    }

    private func performTurn(of coordinator: DownloadCoordinator) {
        enter { coordinator.assumeIsolated { $0.turn() } }
    }

    private func enter(_ body: () -> Void) {
        thread.store(currentThreadNumber(), ordering: .relaxed)
        body()
        thread.store(0, ordering: .relaxed)
    }
}
