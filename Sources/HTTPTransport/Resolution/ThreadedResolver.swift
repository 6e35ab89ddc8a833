import DequeModule
import Threading

/// A resolver that calls a blocking function, usually the system's resolver, on up to 64 threads by default.
///
/// libcurl would start a thread for every lookup, and wait for lookups that do not end. At first, there are up to eight
/// threads. While lookups wait, each successful one adds a thread; a temporary failure, which can mean that the name
/// servers are overloaded, removes one. A name whose servers do not respond blocks a thread for half a minute: whenever
/// lookups wait and none has started for a second, the number of threads is doubled. Threads exist only while there are
/// lookups. Lookups that are canceled before they start are skipped.
///
/// There are fewer threads if the process may open fewer than 16 files for each, or if the system cannot start more.
public final class ThreadedResolver: HostResolver {
    /// A function that returns the addresses of a host and may block.
    public typealias Lookup = @Sendable (_ host: String) throws(LookupFailure) -> [IPAddress]

    private struct Job {
        let host: String
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var lastID = 0
        var queue: Deque<Int> = []
        /// The queued lookups that have not been canceled.
        var waiting: [Int: Job] = [:]
        /// The results.
        ///
        /// Stored here because the thread sanitizer reports a false race for objects that a continuation passes from
        /// a plain thread.
        var answers: [Int: Result<[IPAddress], LookupFailure>] = [:]
        var threads = 0
        /// The number of lookups that have started.
        var begun = 0
        /// A Boolean value that indicates whether a task checks for stuck threads because lookups wait.
        var isWatched = false

        /// Adapts the number of threads to an answer; returns 1 if a thread must be started, and -1 if the one that
        /// calls must end.
        mutating func adapt(to answer: Result<[IPAddress], LookupFailure>, _ limits: LookupThreads) -> Int {
            let change =
                switch answer {
                case .success: !waiting.isEmpty && threads < limits.maximum ? 1 : 0
                case .failure(let failure): failure.isTemporary && threads > limits.initial ? -1 : 0
                }
            threads += change
            return change
        }
    }

    private let state = Locked(State())
    private let lookup: Lookup
    let limits: LookupThreads
    private let start: ThreadStarter
    /// Waits until threads without progress count as stuck.
    private let waitForProgress: @Sendable () async -> Void

    /// Creates a resolver that uses the system's resolver for at most `maximumLookups` lookups at a time.
    ///
    /// Values below 1 count as 1.
    public convenience init(maximumLookups: Int = 64) {
        self.init(maximumLookups: maximumLookups, systemLookup)
    }

    /// Creates a resolver that calls `lookup`, which may block, for at most `maximumLookups` lookups at a time.
    ///
    /// Values below 1 count as 1.
    public convenience init(maximumLookups: Int = 64, _ lookup: @escaping Lookup) {
        self.init(
            lookup, limits: LookupThreads(openFileLimit: OpenFileLimit.current, maximum: maximumLookups),
            waitForProgress: { try? await Task.sleep(for: .seconds(1)) })
    }

    init(
        _ lookup: @escaping Lookup, limits: LookupThreads = LookupThreads(openFileLimit: OpenFileLimit.current),
        start: @escaping ThreadStarter = systemThreads(named: "webimage-dns"),
        waitForProgress: @escaping @Sendable () async -> Void
    ) {
        self.lookup = lookup
        self.limits = limits
        self.start = start
        self.waitForProgress = waitForProgress
    }

    /// Returns the addresses of `host`; waits for a lookup that has started even if the task is canceled.
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
            // From here on, cancellation finds the job.
            if Task.isCancelled { return (true, false) }
            state.waiting[id] = job
            state.queue.append(id)
            guard state.threads < limits.initial else {
                // A detached task, because all waiting lookups benefit.
                if !state.isWatched { Task.detached { await self.watchThreads() } }
                state.isWatched = true
                return (false, false)
            }
            state.threads += 1
            return (false, true)
        }
        if isTooLate { job.continuation.resume() }
        if startsThread { startLookups() }
    }

    /// Starts a thread that has been counted already.
    ///
    /// If the system cannot start one, the running threads do the work; if there are none, all waiting lookups fail.
    private func startLookups() {
        do {
            try start { self.answerQueue() }
        } catch {
            let failure = LookupFailure(message: error.description, isTemporary: true)
            let failed = state.withLock { state in
                state.threads -= 1
                guard state.threads == 0 else { return [Job]() }
                defer { state.waiting = [:] }
                state.queue = []
                for id in state.waiting.keys { state.answers[id] = .failure(failure) }
                return Array(state.waiting.values)
            }
            for job in failed { job.continuation.resume() }
        }
    }

    /// Starts more threads whenever the existing ones seem stuck, until no lookup waits.
    private func watchThreads() async {
        var begun = state.withLock { $0.begun }
        while true {
            await waitForProgress()
            let (isOver, added) = state.withLock { state in
                state.isWatched = !state.waiting.isEmpty
                let isStuck = state.begun == begun
                begun = state.begun
                guard state.isWatched, isStuck else { return (!state.isWatched, 0) }
                let added = min(state.threads, limits.maximum - state.threads, state.waiting.count)
                state.threads += added
                return (false, added)
            }
            for _ in 0..<added { startLookups() }
            if isOver { return }
        }
    }

    /// The body of a thread: performs lookups until none is left, or the number of threads is reduced.
    private func answerQueue() {
        while let (id, job) = nextJob() {
            let answer = Result { () throws(LookupFailure) in try lookup(job.host) }
            let change = state.withLock { state in
                state.answers[id] = answer
                return state.adapt(to: answer, limits)
            }
            job.continuation.resume()
            if change > 0 { startLookups() }
            if change < 0 { return }
        }
    }

    private func nextJob() -> (Int, Job)? {
        state.withLock { state in
            while let id = state.queue.popFirst() {
                if let job = state.waiting.removeValue(forKey: id) {
                    state.begun += 1
                    return (id, job)
                }
            }
            state.threads -= 1
            return nil
        }
    }
}
