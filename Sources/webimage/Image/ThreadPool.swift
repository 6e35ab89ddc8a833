import Threading

/// A thread pool for verification, encoding, and files, because Swift's own threads
/// must stay available for downloads.
///
/// Tasks with this preferred executor (`withTaskExecutorPreference`) run here between their suspensions; see
/// ``WorkThreads``.
final class ThreadPool: TaskExecutor {
    private let threads: WorkThreads<ExecutorWork>

    /// The number of threads.
    let count: Int

    init(count: Int = availableProcessorCount()) {
        self.count = max(1, count)
        threads = WorkThreads(count: count, startThread: systemThreads(named: "webimage-worker"))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        threads.append(ExecutorWork(job, of: self))
    }

    /// Returns the result of `body`, run on one of the threads.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(self) { try body() }
    }
}
