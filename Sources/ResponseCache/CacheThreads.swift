import Threading

/// The threads on which a cache reads and writes, so that neither the cooperative pool nor a transport waits for a
/// disk.
///
/// Some threads do only short work, so that small responses are not delayed by large ones. If the system cannot
/// start any, the cooperative pool does the work until it can.
package final class CacheThreads: Sendable {
    /// The number of threads.
    package static let count = 4
    /// The number of threads that do only short work.
    private static let shortCount = 2

    /// The lane of a job: for short or for long work.
    package enum Line: Sendable {
        case short
        case long
    }

    private struct Job: Sendable {
        let work: @Sendable () -> Void
        let generation: Int
    }

    private let queue = BlockingQueue<Job>()
    private let startThread: ThreadStarter
    /// A Boolean value that indicates whether there is a thread for all work.
    private let isStarted = Locked(false)
    private let pending = Locked(PendingWork())

    init(startThread: @escaping ThreadStarter = systemThreads(named: "webimage-cache")) {
        self.startThread = startThread
    }

    /// Runs `work` on one of the threads.
    package func append(
        to line: Line = .short, _ work: @escaping @Sendable () -> Void
    ) {
        let job = Job(work: work, generation: pending.withLock { $0.begin() })
        if startThreadsIfNeeded() {
            queue.append(job, to: line == .short ? .short : .long)
        } else {
            // Detached: the current task is unrelated to the job.
            Task.detached { [pending] in Self.perform(job, pending) }
        }
    }

    /// Runs `work` in the same way, and returns its result.
    package func run<Value: Sendable>(
        to line: Line = .short, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        // In a lock, because the thread sanitizer does not see that a continuation orders accesses to its value if it
        // is resumed before the task waits for it.
        let result = Locked<Value?>(nil)
        await withCheckedContinuation { continuation in
            append(to: line) {
                let value = work()
                result.withLock { $0 = value }
                continuation.resume()
            }
        }
        guard let value = result.withLock({ $0.take() }) else { preconditionFailure("The work has no result.") }
        return value
    }

    /// Returns when all work that has been added so far is done.
    package func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = pending.withLock { !$0.wait(continuation) }
            if isIdle { continuation.resume() }
        }
    }

    /// Lets the threads end when all work is done.
    func close() { queue.close() }

    /// Starts the threads unless they are started; returns `false` if the system cannot start any.
    private func startThreadsIfNeeded() -> Bool {
        isStarted.withLock { isStarted in
            if !isStarted { isStarted = startThreads() }
            return isStarted
        }
    }

    private func startThreads() -> Bool {
        for number in 0..<Self.count {
            do {
                try startThread { [queue, pending] in
                    // The first thread does all work, in case it remains the only one.
                    while let job = queue.next(onlyShort: number >= Self.count - Self.shortCount) {
                        Self.perform(job, pending)
                    }
                }
            } catch {
                return number > 0
            }
        }
        return true
    }

    private static func perform(_ job: Job, _ pending: Locked<PendingWork>) {
        job.work()
        for continuation in pending.withLock({ $0.end(job.generation) }) { continuation.resume() }
    }
}

/// The number of pending jobs, by generation: a new one begins when a caller waits for all earlier jobs.
private struct PendingWork {
    /// The number of the oldest generation.
    private var first = 0
    private var counts = [0]
    private var waiting: [(generation: Int, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func begin() -> Int {
        counts[counts.count - 1] += 1
        return first + counts.count - 1
    }

    /// Ends a job; returns the callers that have nothing more to wait for.
    mutating func end(_ generation: Int) -> [CheckedContinuation<Void, Never>] {
        counts[generation - first] -= 1
        guard !waiting.isEmpty, counts[0] == 0 else { return [] }
        while counts.count > 1, counts[0] == 0 {
            counts.removeFirst()
            first += 1
        }
        let ready = waiting.filter { $0.generation < first }
        waiting.removeAll { $0.generation < first }
        return ready.map(\.continuation)
    }

    /// Adds a caller that waits for all pending jobs; returns `false` if there are none.
    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard counts.contains(where: { $0 > 0 }) else { return false }
        waiting.append((first + counts.count - 1, continuation))
        counts.append(0)
        return true
    }
}
