import Threading

/// A fixed number of threads for computation, so that it never occupies the cooperative pool.
///
/// Short work goes first: five hundred thumbnails do not wait for three posters. One additional thread takes only
/// short work; see ``WorkThreads``.
final class DecodeThreads: TaskExecutor {
    /// An executor on the same threads for long work, between whose steps short work goes first.
    final class LongWork: TaskExecutor {
        private let threads: WorkThreads<ExecutorWork>

        fileprivate init(_ threads: WorkThreads<ExecutorWork>) {
            self.threads = threads
        }

        func enqueue(_ job: consuming ExecutorJob) {
            threads.append(ExecutorWork(job, of: self), to: .long)
        }
    }

    private let threads: WorkThreads<ExecutorWork>

    init(count: Int, startThread: @escaping ThreadStarter = systemThreads(named: "webimage-decode")) {
        threads = WorkThreads(count: count, shortCount: 1, startThread: startThread)
    }

    /// Returns the executor for long work.
    ///
    /// Keep it alive as long as the work lasts.
    func forLongWork() -> LongWork { LongWork(threads) }

    /// Does work on a thread for long work.
    func doLongWork<Result>(_ work: () async throws -> Result) async throws -> Result {
        try await withTaskExecutorPreference(forLongWork()) {
            // Only a suspension is sure to change threads: optimized code leaves out that of a closure.
            await Task.yield()
            return try await work()
        }
    }

    /// A Boolean value that indicates whether short work is waiting, so that long work should yield.
    var hasShortWork: Bool { threads.hasShortWork }

    func enqueue(_ job: consuming ExecutorJob) {
        threads.append(ExecutorWork(job, of: self))
    }
}
