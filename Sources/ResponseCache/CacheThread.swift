import Threading

/// The thread on which a cache reads and writes, so that neither the cooperative pool nor a transport waits for a
/// disk.
package final class CacheThread: Sendable {
    private let queue = BlockingQueue<@Sendable () -> Void>()
    private let isStarted = Locked(false)

    /// Runs `work` on the thread, after all earlier work.
    func append(_ work: @escaping @Sendable () -> Void) {
        let starts = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        if starts {
            startRequiredThread(named: "webimage-cache") { [queue] in
                while let work = queue.next() { work() }
            }
        }
        queue.append(work)
    }

    /// Runs `work` in the same way, and returns its result.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            append { continuation.resume(returning: work()) }
        }
    }

    /// Lets the thread end when all work is done.
    func close() { queue.close() }
}
