import SocketPolling
import Synchronization
import Threading

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The one thread on which libcurl runs: the executor of ``CurlTransport``.
///
/// It runs the actor's jobs and the work handed to it, lets the driver act on sockets and timers, and sleeps in the
/// poller in between. One wake-up is enough for any number of jobs that arrive while it is awake.
final class CurlThread: SerialExecutor {
    private enum Work: Sendable {
        case job(UnownedJob)
        case command(CurlTransport.Command)
    }

    private struct Inbox {
        var work: [Work] = []
        var isAsleep = false
        var isEnding = false
    }

    let poller: EventPoller
    private let inbox = Locked(Inbox())
    /// 0 until the thread runs.
    private let identity = Atomic<UInt>(0)

    init(poller: EventPoller) {
        self.poller = poller
    }

    /// Starts the thread; `whenEnded` is the last thing it calls.
    ///
    /// It holds the driver only while it calls it, and ends when it is told to ``end()``.
    func start(driver: some CurlThreadDriver, whenEnded: @escaping @Sendable () -> Void = {}) {
        startRequiredThread(named: "webimage-curl") { [weak driver] in
            self.run { driver }
            whenEnded()
        }
    }

    /// Has the driver carry `command` out on the thread, after what was enqueued before.
    func send(_ command: CurlTransport.Command) {
        append(.command(command))
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

    private var isCurrent: Bool { identity.load(ordering: .relaxed) == currentThreadNumber() }

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
        identity.store(currentThreadNumber(), ordering: .relaxed)
        ignoreBrokenPipes()
        // Changes places with the inbox's line, so that neither has to grow again.
        var batch: [Work] = []
        while let limit = nextSleep(driver, &batch) {
            let count = poller.wait(timeout: limit.duration)
            inbox.withLock { $0.isAsleep = false }
            driver()?.handle(eventCount: count)
        }
    }

    /// Runs the work there is and says how long to sleep then; nil at the end.
    ///
    /// A driver that is gone has work on its way here: its own isolated deinit.
    private func nextSleep(
        _ driver: () -> (any CurlThreadDriver)?, _ batch: inout [Work]
    ) -> (duration: Duration?, Void)? {
        let limit = runBatch(&batch, driver())
        return inbox.withLock { inbox in
            if inbox.isEnding { return nil }
            inbox.isAsleep = inbox.work.isEmpty
            return (inbox.isAsleep ? limit : .zero, ())
        }
    }

    /// Runs what is in the inbox now, and not what that work adds: sockets get their turn in between.
    ///
    /// Returns how long the driver would sleep then.
    private func runBatch(_ batch: inout [Work], _ driver: (any CurlThreadDriver)?) -> Duration? {
        inbox.withLock { inbox in swap(&inbox.work, &batch) }
        for item in batch {
            switch item {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .command(let command): driver?.carryOut(command)
            }
        }
        batch.removeAll(keepingCapacity: true)
        return driver?.sleepLimit()
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
    /// Does what another thread asked for.
    func carryOut(_ command: CurlTransport.Command)
    /// How long the thread may sleep; nil without end.
    func sleepLimit() -> Duration?
    /// The thread has woken: so many events wait to be delivered, and timers may be due.
    func handle(eventCount: Int)
}
