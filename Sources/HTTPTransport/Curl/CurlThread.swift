import Glibc
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
        var thread: pthread_t?
    }

    let poller = EventPoller()
    private let inbox = Locked(Inbox())

    /// Starts the thread.
    ///
    /// It ends when nobody else holds the driver any longer, which is to ``wake()`` it then.
    func start(driver: some CurlThreadDriver) {
        startThread(named: "webimage-curl") { [weak driver] in self.run { driver } }
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

    /// Wakes the thread without work, so that it looks after its driver.
    func wake() { poller.wake() }

    private var isCurrent: Bool {
        inbox.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    private func append(_ work: Work) {
        let wakes = inbox.withLock { inbox in
            inbox.work.append(work)
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        if wakes { poller.wake() }
    }

    private func run(_ driver: () -> (any CurlThreadDriver)?) {
        inbox.withLock { $0.thread = pthread_self() }
        while let limit = nextSleep(driver) {
            poller.wait(timeout: limit.duration) { event in driver()?.handle(event) }
            inbox.withLock { $0.isAsleep = false }
            driver()?.finishTurn()
        }
        while runBatch() {}
    }

    /// Runs the work there is and says how long to sleep then; nil once the driver is gone.
    private func nextSleep(_ driver: () -> (any CurlThreadDriver)?) -> (duration: Duration?, Void)? {
        _ = runBatch()
        guard let driver = driver() else { return nil }
        let limit = driver.sleepLimit()
        let rests = inbox.withLock { inbox in
            inbox.isAsleep = inbox.work.isEmpty
            return inbox.isAsleep
        }
        return (rests ? limit : .zero, ())
    }

    /// Runs what is in the inbox now, and not what that work adds: sockets get their turn in between.
    private func runBatch() -> Bool {
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
        return !work.isEmpty
    }
}

/// What a ``CurlThread`` drives; all calls come on the thread.
protocol CurlThreadDriver: AnyObject, Sendable {
    /// How long the thread may sleep; nil without end.
    func sleepLimit() -> Duration?
    /// One socket needs attention.
    func handle(_ event: EventPoller.Event)
    /// The events of one wake-up have been handled.
    func finishTurn()
}
