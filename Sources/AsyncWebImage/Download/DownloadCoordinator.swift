import HTTPTransport
import Logging
import Synchronization
import ResponseCache

/// Makes each download once, however many callers want it, and decides which runs next.
///
/// Every decision is one of the `DownloadMachine`, in a turn of the actor that performs what follows from it. Bytes and
/// pixels never pass through it.
public actor DownloadCoordinator {
    let transport: any Transport
    let decoder: ImageDecoder
    let cache: MemoryCache
    let responseCache: ResponseCache?
    /// How downloads are made from now on; see ``configure(_:)``.
    public internal(set) var configuration: DownloadConfiguration {
        didSet {
            rules = ResponseRules(configuration)
            hooks = DownloadHooks(configuration)
        }
    }
    private(set) var rules: ResponseRules
    private(set) var hooks: DownloadHooks?
    let policy: ProgressivePolicy
    let logger: Logger
    #if Tracing
    let tracing: TracingConfiguration?
    #endif
    /// The clock of rates, deadlines, and delays between attempts.
    let clock: Stopwatch

    private let lastSubscriber = Atomic<Subscriber.ID>(0)
    private let inbox = CoordinatorInbox()
    /// Empty but for the turn that reads the inbox.
    private var messages: [CoordinatorInbox.Message] = []
    /// Private, as everything has to go through ``turn(_:)``, which reads the inbox first.
    private var machine: DownloadMachine
    /// The downloads under way, by identity.
    var downloads: [Download.ID: Download] = [:]
    /// What is under way, by decode.
    var decodes: [DownloadMachine.DecodeID: RunningDecode] = [:]
    var alarms: [DownloadMachine.AlarmKind: Alarm<Stopwatch>] = [:]
    let bytesInFlight: BytesInFlight
    nonisolated let listeners = DownloadEvents()
    nonisolated let shutdownSignal = ShutdownSignal()
    /// Resolved when a shutdown is over.
    let shutdownEnd = OneShot<Void>()

    init(_ environment: DownloadEnvironment, configuration: DownloadConfiguration) {
        policy = environment.previews
        logger = environment.logger
        responseCache = environment.responseCache
        #if Tracing
        tracing = environment.tracing
        #endif
        transport = environment.transport
        decoder = environment.decoder
        cache = environment.cache
        self.configuration = configuration
        clock = Stopwatch(environment.clock)
        rules = ResponseRules(configuration)
        hooks = DownloadHooks(configuration)
        machine = DownloadMachine(configuration, hasResponseCache: responseCache != nil)
        bytesInFlight = BytesInFlight(
            limit: configuration.bytesInFlightLimit,
            transfers: configuration.slots + (responseCache == nil ? 0 : DownloadMachine.lookUpLimit))
        bytesInFlight.onRoom { [weak self] in self?.post(.memoryFreed) }
    }

    /// What happens to the downloads that begin from now on, for logs and interfaces.
    ///
    /// Each call makes a stream of its own, which ends when the loader has been shut down or let go. Of a consumer who is
    /// more than `limit` events behind, the oldest are dropped. Costs nothing while nobody listens.
    public nonisolated func events(bufferingNewest limit: Int = 4_096) -> AsyncStream<DownloadEvent> {
        listeners.stream(limit: limit)
    }

    /// A new identity for a caller; callers are served in its order.
    nonisolated func newSubscriberID() -> Subscriber.ID {
        lastSubscriber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    // MARK: Turns

    /// Tells the coordinator something; what was told before comes first.
    nonisolated func post(_ message: CoordinatorInbox.Message) {
        // One task for all that is posted until it runs, and nobody there to await it. Detached, as it belongs to all of
        // them: neither the priority nor the task-local values of whoever came first. Not of high priority, which would
        // come before those who are about to post, and read the inbox many times instead of once.
        if inbox.append(message) { Task.detached { await self.turn() } }
    }

    /// Handles everything that has been posted, then `event`, then starts what may start.
    func turn(_ event: DownloadMachine.Event? = nil) {
        inbox.take(into: &messages)
        guard event != nil || !messages.isEmpty else { return }
        let now = clock.now
        handle(.memory(hasRoom: bytesInFlight.hasRoom), at: now)
        for message in messages {
            if let event = self.event(of: message) { handle(event, at: now) }
        }
        messages.removeAll(keepingCapacity: messages.count <= Self.usualMessages)
        if let event { handle(event, at: now) }
        handle(.schedule(hasMemory: bytesInFlight.hasRoom), at: now)
    }

    /// What `read` sees once everything that has been posted is handled.
    func current<Value>(_ read: (DownloadMachine) -> Value) -> Value {
        turn()
        return read(machine)
    }

    /// Has the machine handle an event, and performs what follows.
    private func handle(_ event: DownloadMachine.Event, at now: Stopwatch.Instant) {
        machine.handle(event, at: now)
        while let action = machine.nextAction() {
            if let answer = perform(action) { machine.handle(answer, at: now) }
        }
    }

    /// Room for so many messages is kept for the next time.
    private static let usualMessages = 1_024
}
