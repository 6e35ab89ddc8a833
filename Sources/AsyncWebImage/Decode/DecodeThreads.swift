import Threading

/// A fixed number of threads for computation, so that it never occupies the cooperative pool.
///
/// Short work goes first: five hundred thumbnails do not wait for three posters. One additional thread takes only
/// short work, because long work can occupy the others for a second without suspending. The threads start with the
/// first work and end after ``close()``, when all work is done. If the system cannot start any, the cooperative pool
/// does the work until it can.
final class DecodeThreads: TaskExecutor {
    /// An executor on the same threads for long work, between whose steps short work goes first.
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
        /// The executor, kept alive until the job has run.
        let executor: any TaskExecutor

        func run() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }

    private let queue = BlockingQueue<Work>()
    private let count: Int
    private let startThread: ThreadStarter
    /// A Boolean value that indicates whether there is a thread for all work.
    private let isStarted = Locked(false)

    init(count: Int, startThread: @escaping ThreadStarter = systemThreads(named: "webimage-decode")) {
        self.count = count
        self.startThread = startThread
    }

    /// Returns the executor for long work.
    ///
    /// Keep it alive as long as the work lasts.
    func forLongWork() -> LongWork { LongWork(self) }

    /// A Boolean value that indicates whether short work is waiting, so that long work should yield.
    var hasShortWork: Bool { queue.hasShort }

    /// Lets the threads end; called last by the owner.
    func close() { queue.close() }

    func enqueue(_ job: consuming ExecutorJob) {
        append(UnownedJob(job), of: self, to: .short)
    }

    private func append(_ job: UnownedJob, of executor: any TaskExecutor, to line: BlockingQueue<Work>.Line) {
        // The caller need not hold the threads: the job can run, and release them, before this call ends.
        let this = unsafe Unmanaged.passRetained(self)
        defer { unsafe this.release() }
        let work = Work(job: job, executor: executor)
        if startThreadsIfNeeded() {
            queue.append(work, to: line)
        } else {
            // Detached: the current task is unrelated to the job.
            Task.detached { work.run() }
        }
    }

    /// Starts the threads unless they are started; returns `false` if the system cannot start any.
    private func startThreadsIfNeeded() -> Bool {
        isStarted.withLock { isStarted in
            if !isStarted { isStarted = startThreads() }
            return isStarted
        }
    }

    private func startThreads() -> Bool {
        do {
            try startThread { [self] in work(onlyShort: false) }
        } catch {
            return false
        }
        do {
            for number in 1...max(1, count) {
                try startThread { [self] in work(onlyShort: number >= count) }
            }
        } catch {
            // The existing threads do all the work more slowly.
        }
        return true
    }

    private func work(onlyShort: Bool) {
        while let work = queue.next(onlyShort: onlyShort) { work.run() }
    }
}
