import Glibc
import Synchronization
import Threading

/// The one thread on which libcurl runs: the executor of ``CurlTransport``.
///
/// It runs the actor's jobs and the work handed to it, lets the driver act on sockets and timers, and sleeps in the
/// poller in between. One wake-up is enough for any number of jobs that arrive while it is awake.
final class CurlThread: SerialExecutor {
    private enum Work: Sendable {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isAsleep = false
        var isEnding = false
    }

    let poller = EventPoller()
    private let inbox = Locked(Inbox())
    /// 0 until the thread runs.
    private let identity = Atomic<pthread_t>(0)

    /// Starts the thread; `whenEnded` is the last thing it calls.
    ///
    /// It holds the driver only while it calls it, and ends when it is told to ``end()``.
    func start(driver: some CurlThreadDriver, whenEnded: @escaping @Sendable () -> Void = {}) {
        startThread(named: "webimage-curl") { [weak driver] in
            self.run { driver }
            whenEnded()
        }
    }

    /// Runs `work` on the thread, after what was enqueued before.
    func perform(_ work: @escaping @Sendable () -> Void) {
        append(.closure(work))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        append(.job(UnownedJob(job)))
    }

    func checkIsolated() {
        precondition(isCurrent, "not on the transport's thread")
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Ends the thread after what it does now; nothing may be enqueued any more.
    func end() {
        inbox.withLock { $0.isEnding = true }
    }

    private var isCurrent: Bool { identity.load(ordering: .relaxed) == pthread_self() }

    private func append(_ work: Work) {
        // Whoever enqueues need not hold the executor: the work may have run, and ended the thread, before this returns.
        let this = unsafe Unmanaged.passRetained(self)
        defer { unsafe this.release() }
        let wakes = inbox.withLock { inbox in
            inbox.work.append(work)
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        if wakes { poller.wake() }
    }

    private func run(_ driver: () -> (any CurlThreadDriver)?) {
        identity.store(pthread_self(), ordering: .relaxed)
        ignoreBrokenPipes()
        while let limit = nextSleep(driver) {
            let count = poller.wait(timeout: limit.duration)
            inbox.withLock { $0.isAsleep = false }
            driver()?.handle(eventCount: count)
        }
    }

    /// Runs the work there is and says how long to sleep then; nil at the end.
    ///
    /// A driver that is gone has work on its way here: its own isolated deinit.
    private func nextSleep(_ driver: () -> (any CurlThreadDriver)?) -> (duration: Duration?, Void)? {
        runBatch()
        let limit = driver()?.sleepLimit()
        return inbox.withLock { inbox in
            if inbox.isEnding { return nil }
            inbox.isAsleep = inbox.work.isEmpty
            return (inbox.isAsleep ? limit : .zero, ())
        }
    }

    /// Runs what is in the inbox now, and not what that work adds: sockets get their turn in between.
    private func runBatch() {
        let work = inbox.withLock { inbox in
            defer { inbox.work = [] }
            return inbox.work
        }
        for item in work {
            switch item {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .closure(let closure): closure()
            }
        }
    }

    /// libcurl sends with MSG_NOSIGNAL, but does not answer for the TLS library.
    private func ignoreBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// What a ``CurlThread`` drives; all calls come on the thread.
protocol CurlThreadDriver: AnyObject, Sendable {
    /// How long the thread may sleep; nil without end.
    func sleepLimit() -> Duration?
    /// The thread has woken: so many events wait to be delivered, and timers may be due.
    func handle(eventCount: Int)
}
