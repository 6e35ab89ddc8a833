/// A fixed number of threads for work that computes or blocks, and so must not occupy the cooperative pool.
///
/// Short work goes first. Some of the threads take only short work, because long work can occupy the others for a
/// second without suspending. The threads start with the first work, and end when this object is released and all work
/// is done. If the system cannot start any, the cooperative pool does the work until it can.
package final class WorkThreads<Work: ThreadWork>: Sendable {
    private let queue = BlockingQueue<Work>()
    private let count: Int
    private let shortCount: Int
    private let startThread: ThreadStarter
    /// A Boolean value that indicates whether there is a thread for all work.
    private let isStarted = Locked(false)

    /// Creates `count` threads, at least one, and `shortCount` more that take only short work.
    package init(count: Int, shortCount: Int = 0, startThread: @escaping ThreadStarter) {
        self.count = max(1, count)
        self.shortCount = shortCount
        self.startThread = startThread
    }

    deinit { queue.close() }

    /// A Boolean value that indicates whether short work is waiting.
    package var hasShortWork: Bool { queue.hasShort }

    /// Does `work` on one of the threads.
    package func append(_ work: Work, to lane: WorkLane = .short) {
        // The caller need not hold the threads: the work can be done, and release them, before this call ends.
        let this = unsafe Unmanaged.passRetained(self)
        defer { unsafe this.release() }
        if startThreadsIfNeeded() {
            queue.append(work, to: lane)
        } else {
            // Detached: the current task is unrelated to the work.
            Task.detached { work.perform() }
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
        for number in 0..<count + shortCount {
            // The first thread does all work, in case it remains the only one.
            let onlyShort = number >= count
            do {
                try startThread { [queue] in
                    while let work = queue.next(onlyShort: onlyShort) { work.perform() }
                }
            } catch {
                return number > 0
            }
        }
        return true
    }
}

/// The work of ``WorkThreads``.
package protocol ThreadWork: Sendable {
    /// Does the work, on one of the threads.
    func perform()
}

/// A job of a task executor whose tasks run on ``WorkThreads``.
package struct ExecutorWork: ThreadWork {
    private let job: UnownedJob
    /// The executor, kept alive until the job has run.
    private let executor: any TaskExecutor

    /// Creates the work of `executor`.
    package init(_ job: consuming ExecutorJob, of executor: any TaskExecutor) {
        self.job = UnownedJob(job)
        self.executor = executor
    }

    package func perform() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
