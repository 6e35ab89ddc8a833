import DequeModule
import SocketPolling
import Synchronization
import Threading

import Glibc

/// The thread on which transfers run: the executor of a worker.
///
/// It runs the actor's jobs and commands, lets the driver handle sockets and timers, and otherwise sleeps in the
/// poller. One wake-up is enough for all jobs that arrive while it is awake.
final class TransferThread: SerialExecutor {
    private enum Work: Sendable {
        case job(UnownedJob)
        case command(TransferCommand)
        case other(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: Deque<Work> = []
        var isAsleep = false
        var isEnding = false
    }

    /// A wait for events and work.
    struct Wait {
        /// The maximum time; `nil` for no limit.
        var timeout: Duration?
        /// A Boolean value that indicates whether transfers are active.
        var hasTransfers: Bool
    }

    let poller: EventPoller
    private let inbox = Locked(Inbox())
    /// The thread's identity; 0 until it runs.
    private let identity = Atomic<UInt>(0)

    init(poller: EventPoller) {
        self.poller = poller
    }

    /// Starts the thread with `start`; it ends when ``end()`` is called, and calls `whenEnded` last.
    ///
    /// Between calls of the driver's methods, the thread holds only a weak reference to it.
    func start(
        driver: some TransferThreadDriver, with start: ThreadStarter, whenEnded: @escaping @Sendable () -> Void
    ) throws(ThreadFailure) {
        try start { [weak driver] in
            self.run { driver }
            whenEnded()
        }
    }

    /// Runs the available work on the calling thread, because the thread could not be started.
    func runWithoutThread() {
        identity.store(currentThreadNumber(), ordering: .relaxed)
        var batch: Deque<Work> = []
        _ = runBatch(&batch, nil)
    }

    /// Makes the driver perform `command` on the thread, after everything enqueued before.
    func send(_ command: TransferCommand) {
        append(.command(command))
    }

    /// Performs `work` on the thread, after everything enqueued before.
    func perform(_ work: @escaping @Sendable () -> Void) {
        append(.other(work))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        append(.job(UnownedJob(job)))
    }

    func checkIsolated() {
        precondition(isCurrent, "not on the worker's thread")
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Ends the thread after all work enqueued before; nothing can be enqueued anymore.
    func end() {
        inbox.withLock { $0.isEnding = true }
    }

    private var isCurrent: Bool { identity.load(ordering: .relaxed) == currentThreadNumber() }

    private func append(_ work: Work) {
        // The caller need not hold the executor: the work can run, and end the thread, before this method returns.
        let this = unsafe Unmanaged.passRetained(self)
        defer { unsafe this.release() }
        let wakes = inbox.withLock { inbox in
            inbox.work.append(work)
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        if wakes { poller.wake() }
    }

    private func run(_ driver: () -> (any TransferThreadDriver)?) {
        identity.store(currentThreadNumber(), ordering: .relaxed)
        ignoreBrokenPipes()
        // Swapped with the inbox's queue, so that neither has to grow again.
        var batch: Deque<Work> = []
        // Responses can arrive quickly although requests do not, and the reverse.
        var (forResponses, forRequests) = (BusyWait(), BusyWait())
        while let wait = runWork(driver, &batch) {
            let count =
                wait.hasTransfers ? perform(wait, &forResponses) : perform(wait, &forRequests)
            driver()?.handle(eventCount: count)
        }
    }

    /// Waits until there are events or work, and returns the number of events.
    private func perform(_ wait: Wait, _ busyWait: inout BusyWait) -> Int {
        busyWait.result(within: wait.timeout, poll: poll) { sleep(upTo: wait.timeout) }
    }

    private func sleep(upTo timeout: Duration?) -> Int {
        let timeout = inbox.withLock { inbox in
            inbox.isAsleep = inbox.work.isEmpty
            return inbox.isAsleep ? timeout : .zero
        }
        let count = poller.wait(timeout: timeout)
        inbox.withLock { $0.isAsleep = false }
        return count
    }

    /// Returns the number of events, or 0 if there is work; `nil` if there is neither.
    private func poll() -> Int? {
        let count = poller.wait(timeout: .zero)
        return count > 0 || inbox.withLock({ !$0.work.isEmpty }) ? count : nil
    }

    /// Runs the available work and returns the wait afterward; `nil` when the thread must end.
    ///
    /// If the driver is gone, its isolated deinit is still to be run here, or has just been run when this method
    /// released the driver: work can have been added in between, which is performed before the thread ends.
    private func runWork(_ driver: () -> (any TransferThreadDriver)?, _ batch: inout Deque<Work>) -> Wait? {
        let wait = runBatch(&batch, driver())
        return inbox.withLock { $0.isEnding && $0.work.isEmpty ? nil : wait }
    }

    /// Runs the current content of the inbox but not work added meanwhile, so that sockets are served in between.
    ///
    /// Returns the wait that the driver allows.
    private func runBatch(_ batch: inout Deque<Work>, _ driver: (any TransferThreadDriver)?) -> Wait {
        inbox.withLock { inbox in swap(&inbox.work, &batch) }
        while let item = batch.popFirst() {
            switch consume item {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .command(let command): driver?.perform(command)
            case .other(let work): work()
            }
        }
        return driver?.prepareToWait() ?? Wait(timeout: nil, hasTransfers: false)
    }

    /// libcurl sends with MSG_NOSIGNAL, but its TLS library might not.
    private func ignoreBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// The object driven by a ``TransferThread``; all calls are made on its thread.
protocol TransferThreadDriver: AnyObject, Sendable {
    /// Performs a command from another thread.
    func perform(_ command: TransferCommand)
    /// Runs timers that are due, ends finished transfers, and returns how long the thread may wait.
    func prepareToWait() -> TransferThread.Wait
    /// Handles a wake-up: `eventCount` events are pending, and timers can be due.
    func handle(eventCount: Int)
}
