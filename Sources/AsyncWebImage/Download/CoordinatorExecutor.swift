import HTTPTransport
import Synchronization
import Threading

/// The serial executor of a ``DownloadCoordinator``, with the inbox of messages to it.
///
/// Unlike the default executor of actors, it can be entered by synchronous code: ``process(_:on:)`` handles a message
/// on the thread that has it if the coordinator is idle, so that no other thread must be woken. In all other cases, the
/// transport's thread handles the messages that have been posted by the time it gets to them, so that the objects of a
/// download are usually in the caches of one processor. A task does so if that would take long or the transport has no
/// such thread, and performs the jobs of tasks that await the coordinator.
final class CoordinatorExecutor: SerialExecutor {
    private struct State {
        /// The messages that have not been taken, in the order in which they were posted; empty while it is idle.
        var messages: [CoordinatorMessage] = []
        /// The coordinator; it must live until it has taken the messages.
        var coordinator: DownloadCoordinator?
        /// The jobs that have not been taken; empty while it is idle.
        var jobs: [UnownedJob] = []
        /// A Boolean value that indicates whether a message has been added whose handling can take long.
        var hasLongMessage = false
        /// A Boolean value that indicates whether a thread is using the coordinator, or soon will.
        var isBusy = false

        /// A Boolean value that indicates whether the next use of the coordinator would hold up transfers.
        var needsTask: Bool {
            hasLongMessage || !jobs.isEmpty || messages.count > CoordinatorExecutor.maximumMessagesOnTransport
        }

        mutating func add(_ message: CoordinatorMessage, to coordinator: DownloadCoordinator) {
            if messages.isEmpty { self.coordinator = coordinator }
            if message.concernsAllDownloads { hasLongMessage = true }
            messages.append(message)
        }

        /// Marks the coordinator busy; returns whether it was idle, so that the calling thread must use it, or have
        /// another one do so.
        mutating func begin() -> Bool {
            defer { isBusy = true }
            return !isBusy
        }

        /// Marks the coordinator idle; returns `false` if there is more to do.
        mutating func end() -> Bool {
            guard messages.isEmpty, jobs.isEmpty else { return false }
            isBusy = false
            return true
        }
    }

    /// The maximum number of messages for which the transport's thread performs a turn, in a millisecond or two.
    static let maximumMessagesOnTransport = 256

    /// The transport, if it can perform turns.
    private let transport: (any WorkPerforming)?
    private let state = Locked(State())
    /// The number of the thread that is using the coordinator; 0 if there is none.
    private let thread = Atomic<UInt>(0)

    /// Creates the executor of a coordinator that uses `transport`.
    init(_ transport: any Transport) {
        // A class first: a cast to a protocol searches all conformances of the program.
        self.transport = transport as? CurlTransport ?? transport as? any WorkPerforming
    }

    // MARK: Messages

    /// Adds a message for another thread to handle.
    func post(_ message: CoordinatorMessage, to coordinator: DownloadCoordinator) {
        let wasIdle = state.withLock { state in
            state.add(message, to: coordinator)
            return state.begin()
        }
        if wasIdle { passOn() }
    }

    /// Handles a message on this thread if the coordinator is idle; otherwise, another thread handles it.
    ///
    /// Messages that are posted meanwhile are passed on, so that one thread is not kept by those of others.
    func process(_ message: CoordinatorMessage, on coordinator: DownloadCoordinator) {
        let wasIdle = state.withLock { state in
            let wasIdle = state.begin()
            if !wasIdle { state.add(message, to: coordinator) }
            return wasIdle
        }
        guard wasIdle else { return }
        enter { coordinator.assumeIsolated { $0.turn(for: message) } }
        endOrPassOn()
    }

    /// Moves all messages to `batch`, which is empty: the two change places, so that neither has to grow again.
    func takeMessages(into batch: inout [CoordinatorMessage]) {
        // Released outside of the lock.
        let coordinator = state.withLock { state in
            swap(&state.messages, &batch)
            state.hasLongMessage = false
            return state.coordinator.take()
        }
        withExtendedLifetime(coordinator) {}
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasIdle = state.withLock { state in
            state.jobs.append(job)
            return state.begin()
        }
        if wasIdle { passOn() }
    }

    func checkIsolated() {
        precondition(isCurrent, "not isolated to the coordinator")
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private var isCurrent: Bool { thread.load(ordering: .relaxed) == currentThreadNumber() }

    // MARK: Execution

    /// Has the transport's thread, or a task, use the coordinator.
    private func passOn() {
        if let transport, !state.withLock(\.needsTask), transport.perform({ self.performTurn() }) { return }
        createTask()
    }

    /// Creates a task that uses the coordinator; no code awaits it.
    ///
    /// Detached, because it must not inherit the priority and the task-local values of a caller. Without a high
    /// priority, which would run it before other callers have posted, so that it would find fewer messages.
    private func createTask() {
        Task.detached { self.performAll() }
    }

    /// Performs one turn for the messages that there are now, unless it is to be left to a task by now.
    private func performTurn() {
        let (needsTask, coordinator) = state.withLock { ($0.needsTask, $0.coordinator) }
        if needsTask { return createTask() }
        performTurn(of: coordinator)
        endOrPassOn()
    }

    /// Performs the jobs that there are now, and one turn for the messages; what is added meanwhile is passed on, so
    /// that other tasks of the pool are served in between.
    private func performAll() {
        let (jobs, coordinator) = state.withLock { state in
            defer { state.jobs = [] }
            return (state.jobs, state.coordinator)
        }
        for job in jobs { enter { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) } }
        performTurn(of: coordinator)
        endOrPassOn()
    }

    private func performTurn(of coordinator: DownloadCoordinator?) {
        if let coordinator { enter { coordinator.assumeIsolated { $0.turn() } } }
    }

    private func endOrPassOn() {
        if !state.withLock({ $0.end() }) { passOn() }
    }

    private func enter(_ body: () -> Void) {
        thread.store(currentThreadNumber(), ordering: .relaxed)
        body()
        thread.store(0, ordering: .relaxed)
    }
}
