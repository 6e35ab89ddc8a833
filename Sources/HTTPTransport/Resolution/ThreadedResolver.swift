import DequeModule
import Threading

/// Asks a function that blocks, mostly the system's resolver, on eight threads, and more while these are stuck.
///
/// libcurl would start a thread for every lookup, and wait for a stuck one. A name whose servers do not answer keeps a thread
/// for half a minute: whenever lookups wait and none has begun for a second, the threads are doubled, up to 64. They exist
/// only while there is something to look up; lookups that are canceled before they have begun are passed over.
///
/// There are fewer threads if the process may open fewer than 1,024 files, or if the system has no more threads.
public final class ThreadedResolver: HostResolver {
    /// Finds the addresses of a host, however long that takes.
    public typealias Lookup = @Sendable (_ host: String) throws(LookupFailure) -> [IPAddress]

    private struct Job {
        let host: String
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var lastID = 0
        var queue: Deque<Int> = []
        /// Those in the queue that somebody still wants.
        var waiting: [Int: Job] = [:]
        /// Handed over here and not by the continuation: thread sanitizer takes an object that one brings from a plain
        /// thread for a race.
        var answers: [Int: Result<[IPAddress], LookupFailure>] = [:]
        var threads = 0
        /// Lookups that have begun.
        var begun = 0
        /// A Boolean value that indicates whether somebody looks whether the threads are stuck, as lookups wait for one.
        var isWatched = false
    }

    /// Starts a thread that runs the body.
    typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws(ThreadFailure) -> Void

    private let state = Locked(State())
    private let lookup: Lookup
    private let limits: LookupThreads
    private let start: Start
    /// Returns when threads without any progress since are to be taken for stuck.
    private let patience: @Sendable () async -> Void

    /// A resolver that asks the system.
    public convenience init() {
        self.init(systemLookup)
    }

    /// A resolver that asks `lookup`, which may block.
    public convenience init(_ lookup: @escaping Lookup) {
        self.init(lookup, patience: { try? await Task.sleep(for: .seconds(1)) })
    }

    init(
        _ lookup: @escaping Lookup, limits: LookupThreads = LookupThreads(openFileLimit: OpenFileLimit.current),
        start: @escaping Start = { body throws(ThreadFailure) in try startThread(named: "webimage-dns", body) },
        patience: @escaping @Sendable () async -> Void
    ) {
        self.lookup = lookup
        self.limits = limits
        self.start = start
        self.patience = patience
    }

    /// The addresses of `host`; a lookup that has begun is waited for, even if the task is canceled.
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
            guard state.threads < limits.usual else {
                // Nobody's task: all who wait profit.
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

    /// Starts a thread that was counted already.
    ///
    /// If the system has none left, those that run do the work; without any, all lookups that wait fail.
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

    /// Has more threads start whenever those there are seem stuck, until no lookup waits for one.
    private func watchThreads() async {
        var begun = state.withLock { $0.begun }
        while true {
            await patience()
            let (isOver, added) = state.withLock { state in
                state.isWatched = !state.waiting.isEmpty
                let isStuck = state.begun == begun
                begun = state.begun
                guard state.isWatched, isStuck else { return (!state.isWatched, 0) }
                let added = min(state.threads, limits.most - state.threads, state.waiting.count)
                state.threads += added
                return (false, added)
            }
            for _ in 0..<added { startLookups() }
            if isOver { return }
        }
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
