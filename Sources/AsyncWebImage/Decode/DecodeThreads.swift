import Threading

/// A fixed number of threads for work that computes, so that it never occupies the cooperative pool.
///
/// Short work goes first: five hundred thumbnails do not wait for three posters. One thread more than asked for takes
/// nothing but short work, as what is long may keep the others for a second without a pause. They start with the first
/// work and end after ``close()``, when all work is done.
final class DecodeThreads: TaskExecutor {
    /// The same threads for work that takes long, between whose steps others go first.
    final class LongWork: TaskExecutor {
        private let threads: DecodeThreads

        fileprivate init(_ threads: DecodeThreads) {
            self.threads = threads
        }

        func enqueue(_ job: consuming ExecutorJob) {
            threads.append(UnownedJob(job), of: self, to: .long)
        }
    }

    private struct Work: Sendable {
        let job: UnownedJob
        /// Held until the job has run.
        let executor: any TaskExecutor
    }

    private let queue = BlockingQueue<Work>()
    private let count: Int
    private let isStarted = Locked(false)

    init(count: Int) {
        self.count = count
    }

    /// The executor for work that takes long.
    ///
    /// To be held as long as the work lasts.
    func forLongWork() -> LongWork { LongWork(self) }

    /// A Boolean value that indicates whether short work waits, so that long work should make room.
    var hasShortWork: Bool { queue.hasShort }

    /// Lets the threads end; its owner's last act.
    func close() { queue.close() }

    func enqueue(_ job: consuming ExecutorJob) {
        append(UnownedJob(job), of: self, to: .short)
    }

    private func append(_ job: UnownedJob, of executor: any TaskExecutor, to line: BlockingQueue<Work>.Line) {
        // Whoever enqueues need not hold the threads: the job may have run, and let go of them, before this call ends.
        let this = unsafe Unmanaged.passRetained(self)
        defer { unsafe this.release() }
        startThreads()
        queue.append(Work(job: job, executor: executor), to: line)
    }

    private func startThreads() {
        let starts = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        guard starts else { return }
        startRequiredThread(named: "webimage-decode") { [self] in work(onlyShort: false) }
        do {
            for number in 1...max(1, count) {
                try startThread(named: "webimage-decode") { [self] in work(onlyShort: number >= count) }
            }
        } catch {
            // The system has no more: those there are do all the work, if more slowly.
        }
    }

    private func work(onlyShort: Bool) {
        while let work = queue.next(onlyShort: onlyShort) {
            unsafe work.job.runSynchronously(on: work.executor.asUnownedTaskExecutor())
        }
    }
}
