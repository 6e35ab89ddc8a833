import Threading

/// A fixed number of threads for work that computes, so that it never occupies the cooperative pool.
///
/// They start with the first work and end after ``close()``, when all work is done.
final class DecodeThreads: TaskExecutor {
    private let queue = BlockingQueue<UnownedJob>()
    private let count: Int
    private let isStarted = Locked(false)

    init(count: Int) {
        self.count = count
    }

    /// Lets the threads end; its owner's last act.
    func close() { queue.close() }

    func enqueue(_ job: consuming ExecutorJob) {
        // Whoever enqueues need not hold the executor: the job may have run, and let go of it, before this call ends.
        let this = unsafe Unmanaged.passRetained(self)
        defer { unsafe this.release() }
        startThreads()
        queue.append(UnownedJob(job))
    }

    private func startThreads() {
        let starts = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        guard starts else { return }
        for _ in 0..<count {
            startThread(named: "webimage-decode") { [self] in
                while let job = queue.next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }
}
