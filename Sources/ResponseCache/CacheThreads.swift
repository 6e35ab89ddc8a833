import Threading

/// The threads on which a cache, or another user of files, reads and writes, so that neither the cooperative pool nor a
/// transport waits for a disk.
///
/// Some threads do only short work, so that small responses are not delayed by large ones; see ``WorkThreads``.
package final class CacheThreads: Sendable {
    /// The number of threads.
    package static let count = 4
    /// The number of threads that do only short work.
    private static let shortCount = 2

    /// The lane of a job: for short or for long work.
    package enum Lane: Sendable {
        case short
        case long
    }

    private struct Job: ThreadWork {
        let work: @Sendable () -> Void
        let generation: Int
        let pending: Locked<PendingWork>

        func perform() {
            work()
            for continuation in pending.withLock({ $0.end(generation) }) { continuation.resume() }
        }
    }

    private let threads: WorkThreads<Job>
    private let pending = Locked(PendingWork())

    /// Creates threads with a name, which start with the first work.
    package convenience init(named name: String) {
        self.init(startThread: systemThreads(named: name))
    }

    init(startThread: @escaping ThreadStarter = systemThreads(named: "webimage-cache")) {
        threads = WorkThreads(
            count: Self.count - Self.shortCount, shortCount: Self.shortCount, startThread: startThread)
    }

    /// Runs `work` on one of the threads.
    package func append(to lane: Lane = .short, _ work: @escaping @Sendable () -> Void) {
        let job = Job(work: work, generation: pending.withLock { $0.begin() }, pending: pending)
        threads.append(job, to: lane == .short ? .short : .long)
    }

    /// Runs `work` in the same way, and returns its result.
    package func run<Value: Sendable>(
        to lane: Lane = .short, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        // In a lock, because the thread sanitizer does not see that a continuation orders accesses to its value if it
        // is resumed before the task waits for it.
        let result = Locked<Value?>(nil)
        await withCheckedContinuation { continuation in
            append(to: lane) {
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
