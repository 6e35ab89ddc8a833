import Threading

/// Asks a function that blocks, mostly the system's resolver, on at most eight threads.
///
/// libcurl would start a thread for every lookup, and wait for a stuck one. Threads exist only while there is something to
/// look up; lookups that are cancelled before they have begun are passed over.
public final class ThreadedResolver: HostResolver {
    /// Finds the addresses of a host, however long that takes.
    public typealias Lookup = @Sendable (_ host: String) throws(LookupFailure) -> [IPAddress]

    private struct Job {
        let host: String
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var lastID = 0
        var queue: [Int] = []
        /// Those in the queue that somebody still wants.
        var waiting: [Int: Job] = [:]
        /// Handed over here and not by the continuation: thread sanitizer takes an object that one brings from a plain
        /// thread for a race.
        var answers: [Int: Result<[IPAddress], LookupFailure>] = [:]
        var threads = 0
    }

    private static let threadLimit = 8

    private let state = Locked(State())
    private let lookup: Lookup

    /// A resolver that asks the system.
    public convenience init() {
        self.init(systemLookup)
    }

    /// A resolver that asks `lookup`, which may block.
    public init(_ lookup: @escaping Lookup) {
        self.lookup = lookup
    }

    /// The addresses of `host`; a lookup that has begun is waited for, even if the task is cancelled.
    public func addresses(of host: String) async throws -> [IPAddress] {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(id, Job(host: host, continuation: continuation))
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.continuation.resume()
        }
        guard let answer = state.withLock({ $0.answers.removeValue(forKey: id) }) else { throw CancellationError() }
        return try answer.get()
    }

    private func enqueue(_ id: Int, _ job: Job) {
        let (isTooLate, startsThread) = state.withLock { state in
            // Whoever cancels from here on finds the job.
            if Task.isCancelled { return (true, false) }
            state.waiting[id] = job
            state.queue.append(id)
            guard state.threads < Self.threadLimit else { return (false, false) }
            state.threads += 1
            return (false, true)
        }
        if isTooLate { job.continuation.resume() }
        if startsThread { startThread(named: "webimage-dns") { self.answerQueue() } }
    }

    /// One thread's life: lookups until none is left.
    private func answerQueue() {
        while let (id, job) = nextJob() {
            let answer = Result { () throws(LookupFailure) in try lookup(job.host) }
            state.withLock { $0.answers[id] = answer }
            job.continuation.resume()
        }
    }

    private func nextJob() -> (Int, Job)? {
        state.withLock { state in
            while !state.queue.isEmpty {
                let id = state.queue.removeFirst()
                if let job = state.waiting.removeValue(forKey: id) { return (id, job) }
            }
            state.threads -= 1
            return nil
        }
    }
}
