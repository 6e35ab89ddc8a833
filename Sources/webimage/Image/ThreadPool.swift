import Threading

/// A thread pool with one thread per processor for verification, encoding, and files, because Swift's own threads
/// must stay available for downloads.
///
/// Tasks with this preferred executor (`withTaskExecutorPreference`) run here between their suspensions. The threads
/// start immediately and end when the last reference is released.
final class ThreadPool: TaskExecutor {
    private struct Work: Sendable {
        let job: UnownedJob
        /// The executor, kept alive until the job has run.
        let executor: ThreadPool
    }

    private let queue = BlockingQueue<Work>()

    /// The number of threads.
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
            // The system cannot start more threads: the existing ones do all the work more slowly.
        }
    }

    deinit { queue.close() }

    func enqueue(_ job: consuming ExecutorJob) {
        queue.append(Work(job: UnownedJob(job), executor: self))
    }

    /// Returns the result of `body`, run on one of the threads.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(self) { try body() }
    }
}
