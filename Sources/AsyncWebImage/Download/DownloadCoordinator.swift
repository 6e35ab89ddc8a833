import HTTPTransport
import Logging
import Synchronization
import Threading
import ResponseCache

/// An actor that determines the order of downloads and performs each one once for all its callers.
///
/// The coordinator of a loader (``ImageLoader/coordinator``) is where you observe and control its downloads: events,
/// activity, configuration, suspension, and cancellation. The pieces of a body never pass through the actor.
public actor DownloadCoordinator {
    let environment: DownloadEnvironment
    /// The current configuration of downloads; see ``configure(_:)``.
    public internal(set) var configuration: DownloadConfiguration {
        didSet {
            rules = ResponseRules(configuration)
            hooks = DownloadHooks(configuration)
            immediateResponses?.configure(configuration)
            configurationCount += 1
        }
    }
    /// The number of configurations so far.
    private(set) var configurationCount = 0
    private(set) var rules: ResponseRules
    private(set) var hooks: DownloadHooks?

    private let lastSubscriber = Atomic<Subscriber.ID>(0)
    private nonisolated let executor: CoordinatorExecutor
    /// The number of waiting callers after the last turn.
    private nonisolated let callerCount = Atomic<Int>(0)
    /// The numbers of waiting and running downloads after the last turn.
    private nonisolated let waitingCount = Atomic<Int>(0)
    private nonisolated let runningCount = Atomic<Int>(0)
    /// A Boolean value that indicates whether callers perform turns.
    ///
    /// Requests start in turns. A custom transport can create a task for each, which would inherit the priority and the
    /// task-local values of the caller, although others share the download.
    private nonisolated let isEnteredByCallers: Bool
    /// The messages being processed; empty outside of a turn.
    private var messages: [CoordinatorMessage] = []
    /// Private, because all access must use a turn, after all messages that were posted before.
    private var machine: DownloadMachine
    /// The active downloads by identity.
    var downloads: [Download.ID: Download] = [:]
    /// The active decodes.
    var decodes: [DownloadMachine.DecodeID: RunningDecode] = [:]
    /// The callers for whose files the response cache is being asked.
    var fileLookups = FileLookups()
    /// The files that are being looked up or made.
    nonisolated let activeFiles = Locked<Set<FileKey>>([])
    var alarms: [DownloadMachine.AlarmKind: Alarm<Stopwatch>] = [:]
    let bytesInFlight: BytesInFlight
    nonisolated let listeners = DownloadEvents()
    /// A Boolean value that indicates whether each download has a span.
    nonisolated let isTraced: Bool
    /// The stored responses that need no download; `nil` if there is no response cache.
    nonisolated let immediateResponses: ImmediateResponses?
    nonisolated let shutdownSignal = ShutdownSignal()
    nonisolated let pendingAnswers = PendingAnswers()
    /// Resolved when a shutdown is complete.
    let shutdownEnd = OneShot<Void>()

    init(_ environment: DownloadEnvironment, configuration: DownloadConfiguration) {
        self.environment = environment
        executor = CoordinatorExecutor(environment.transport)
        isEnteredByCallers = environment.transport is CurlTransport
        self.configuration = configuration
        rules = ResponseRules(configuration)
        hooks = DownloadHooks(configuration)
        let (responseCache, logger) = (environment.responseCache, environment.logger)
        machine = DownloadMachine(configuration, hasResponseCache: responseCache != nil)
        #if Tracing
        isTraced = environment.tracing != nil
        #else
        isTraced = false
        #endif
        immediateResponses = ImmediateResponses(
            responseCache, configuration, logger: logger, recordsQueries: environment.recordsQueries)
        bytesInFlight = BytesInFlight(
            limit: configuration.maximumBytesInFlight,
            transfers: configuration.slots + (responseCache == nil ? 0 : DownloadMachine.maximumConcurrentLookups))
        responseCache?.onFailure { [path = responseCache?.configuration.directory ?? ""] failure in
            logger.warning(
                "responses cannot be stored", metadata: ["folder": "\(path)", "error": "\(failure)"])
        }
        bytesInFlight.onCapacity { [weak self] in self?.post(.memoryFreed) }
    }

    /// Returns a stream of the events of downloads that begin from now on, for logs and user interfaces.
    ///
    /// Each call creates a separate stream, which ends when the loader is shut down or released. If a consumer is
    /// more than `limit` events behind, the oldest are dropped. There is no overhead while there are no
    /// streams.
    public nonisolated func events(bufferingNewest limit: Int = 4_096) -> AsyncStream<DownloadEvent> {
        listeners.stream(limit: limit)
    }

    /// The load of the downloads after the last turn.
    nonisolated var load: LoadEstimate {
        LoadEstimate(
            waiting: waitingCount.load(ordering: .relaxed), running: runningCount.load(ordering: .relaxed),
            bytesInFlight: bytesInFlight.count, decodeBytes: environment.decoder.grantedBytes.load(ordering: .relaxed))
    }

    /// Returns a new identity for a caller; callers are served in this order.
    nonisolated func newSubscriberID() -> Subscriber.ID {
        lastSubscriber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    // MARK: Turns

    /// The executor of the actor, which synchronous code can enter.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Posts a message; earlier messages are processed first.
    nonisolated func post(_ message: CoordinatorMessage) {
        executor.post(message, to: self)
    }

    /// Handles a message on this thread; if the coordinator is busy, the message is posted.
    ///
    /// Do not call this method in a cancellation handler, or while a lock is held.
    nonisolated func process(_ message: CoordinatorMessage) {
        executor.process(message, on: self)
    }

    /// Adds a caller that awaits its result, on this thread if possible.
    nonisolated func join(_ caller: Subscriber) {
        if isEnteredByCallers { process(.join(caller)) } else { post(.join(caller)) }
    }

    /// Handles the end of a transfer, on this thread if there are few callers.
    ///
    /// If there are many, other transfers are likely to end at about the same time, and one turn handles all of them.
    nonisolated func transferEnded(_ id: Download.ID) {
        if callerCount.load(ordering: .relaxed) <= Self.fewCallers {
            process(.transferEnded(id))
        } else {
            post(.transferEnded(id))
        }
    }

    /// Handles all posted messages, then `event`, then starts the downloads that may start.
    func turn(_ event: DownloadMachine.Event? = nil) {
        executor.takeMessages(into: &messages)
        guard event != nil || !messages.isEmpty else { return }
        performTurn { now in
            for message in messages { handle(message, at: now) }
            messages.removeAll(keepingCapacity: messages.count <= Self.usualMessages)
            if let event { handle(event, at: now) }
        }
    }

    /// Handles a message without those posted after it, then starts the downloads that may start.
    ///
    /// Only for the executor, which has found no earlier messages.
    func turn(for message: CoordinatorMessage) {
        performTurn { now in handle(message, at: now) }
    }

    private func performTurn(_ handleEvents: (_ now: Stopwatch.Instant) -> Void) {
        let now = environment.clock.now
        handle(.memory(hasCapacity: bytesInFlight.hasCapacity), at: now)
        handleEvents(now)
        handle(.schedule(hasMemory: bytesInFlight.hasCapacity), at: now)
        callerCount.store(machine.callers.count, ordering: .relaxed)
        waitingCount.store(machine.waitingCount, ordering: .relaxed)
        runningCount.store(machine.runningCount, ordering: .relaxed)
    }

    /// Returns the result of `read` after all posted messages have been handled.
    func current<Value>(_ read: (DownloadMachine) -> Value) -> Value {
        turn()
        return read(machine)
    }

    /// Returns whether a caller of a product would share its decode; only within a turn.
    func isDecoding(_ variant: Variant, of key: FetchKey) -> Bool { machine.isDecoding(variant, of: key) }

    /// Returns the download of a caller that waits; only within a turn.
    func download(of caller: Subscriber.ID) -> Download? {
        machine.callers.download(of: caller).flatMap { downloads[$0] }
    }

    private func handle(_ message: CoordinatorMessage, at now: Stopwatch.Instant) {
        if case .fileLookedUp(let file, let result) = message {
            for message in endLookup(of: file, result) {
                if let event = event(of: message) { handle(consume event, at: now) }
            }
        } else if !fileLookups.keep(message), let event = event(of: message) {
            handle(consume event, at: now)
        }
    }

    /// Lets the machine handle an event, and performs the resulting actions.
    private func handle(_ event: consuming DownloadMachine.Event, at now: Stopwatch.Instant) {
        machine.handle(event, at: now)
        while let action = machine.nextAction() {
            if let answer = perform(consume action) { machine.handle(answer, at: now) }
        }
    }

    /// The number of messages for which capacity is retained.
    private static let usualMessages = 1_024
    /// The number of callers up to which the end of a transfer is handled at once.
    private static let fewCallers = 4
}
