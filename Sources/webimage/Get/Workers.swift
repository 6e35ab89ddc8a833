import Threading

/// As many threads as there are processors, for checking, encoding and files: Swift's own must stay free for the
/// downloads.
///
/// What runs with them as its preferred executor (`withTaskExecutorPreference`) runs there between its waits. They start
/// at once and end when the last reference is gone.
final class Workers: TaskExecutor {
    private struct Work: Sendable {
        let job: UnownedJob
        /// Held until the job has run.
        let executor: Workers
    }

    private let queue = BlockingQueue<Work>()

    /// How many threads there are.
    let count: Int

    init(count: Int = availableProcessorCount()) {
        self.count = max(1, count)
        let work: @Sendable () -> Void = { [queue] in
            while let work = queue.next() {
                unsafe work.job.runSynchronously(on: work.executor.asUnownedTaskExecutor())
            }
        }
        startRequiredThread(named: "webimage-worker", work)
        do {
            for _ in 1..<self.count { try startThread(named: "webimage-worker", work) }
        } catch {
            // The system has no more: those there are do all the work, if more slowly.
        }
    }

    deinit { queue.close() }

    func enqueue(_ job: consuming ExecutorJob) {
        queue.append(Work(job: UnownedJob(job), executor: self))
    }

    /// What `body` returns, once a thread is free for it.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(self) { try body() }
    }
}
