import HTTPTransport
import Logging
import Synchronization

/// Makes each download once, however many callers want it, and decides which runs next.
///
/// Every decision (join, leave, start, settle) is one turn of the actor. Bytes and pixels never pass through it.
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
    /// What rates, and delays between tries, are measured by.
    let clock: any Clock<Duration>

    private let lastSubscriber = Atomic<Subscriber.ID>(0)
    private let inbox = CoordinatorInbox()
    /// Empty but for the turn that reads the inbox.
    private var messages: [CoordinatorInbox.Message] = []
    var queue: DownloadQueue
    /// The downloads that begin with a look-up in the response cache; nil without one.
    var lookUps: DownloadQueue?
    private var lastDownload: Download.ID = 0
    var downloads: [Download.ID: Download] = [:]
    /// The downloads that callers can join.
    ///
    /// One that nobody waits for is not here any more.
    var joinable: [FetchKey: Download] = [:]
    var locations: [Subscriber.ID: Download] = [:]
    let bytesInFlight: BytesInFlight
    /// What there is of bodies whose download was given up.
    var interrupted: InterruptedBodies
    nonisolated let listeners = DownloadEvents()
    /// How many decodes are under way, cancelled ones included.
    var decodeCount = 0
    /// The end, once it has begun.
    var shutdown: Shutdown?
    nonisolated let shutdownSignal = ShutdownSignal()
    /// Goes off when a host's rate lets its next download start.
    private var rateAlarm: Alarm<Stopwatch>?
    /// Goes off when the time of a download may be up.
    lazy var timeAlarm = Alarm(clock: Stopwatch(clock)) { [weak self] in self?.post(.timeIsUp) }
    /// When it goes off.
    var nextEndOfTime: Stopwatch.Instant?

    init(
        transport: any Transport, decoder: ImageDecoder, cache: MemoryCache,
        configuration: ImageLoader.Configuration, clock: any Clock<Duration>
    ) {
        policy = configuration.previews
        logger = configuration.logger
        responseCache = configuration.responseCache
        #if Tracing
        tracing = configuration.tracing
        #endif
        let configuration = configuration.downloads
        self.transport = transport
        self.decoder = decoder
        self.cache = cache
        self.configuration = configuration
        self.clock = clock
        rules = ResponseRules(configuration)
        hooks = DownloadHooks(configuration)
        interrupted = InterruptedBodies(limit: configuration.resumableLimit)
        queue = DownloadQueue(
            limit: configuration.slots,
            hostLimit: configuration.slotsPerHost,
            order: configuration.executionOrder,
            rateLimit: configuration.rateLimitPerHost)
        lookUps = responseCache.map { _ in
            DownloadQueue(
                limit: Self.lookUpLimit, hostLimit: Self.lookUpLimit, order: configuration.executionOrder)
        }
        bytesInFlight = BytesInFlight(
            limit: configuration.bytesInFlightLimit,
            transfers: configuration.slots + (responseCache == nil ? 0 : Self.lookUpLimit))
        bytesInFlight.onRoom { [weak self] in self?.post(.mayStart) }
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
}

// MARK: - Callers come and go

extension DownloadCoordinator {
    /// Tells the coordinator something; what was told before comes first.
    nonisolated func post(_ message: CoordinatorInbox.Message) {
        // One task for all that is posted until it runs, and nobody there to await it. Detached, as it belongs to all of
        // them: neither the priority nor the task-local values of whoever came first. Not of high priority, which would
        // come before those who are about to post, and read the inbox many times instead of once.
        if inbox.append(message) { Task.detached { await self.readInbox() } }
    }

    func readInbox() {
        inbox.take(into: &messages)
        guard !messages.isEmpty else { return }
        for message in messages {
            switch message {
            case .join(let subscriber): join(subscriber)
            case .leave(let id): remove(id)
            case .prioritize(let id, let priority): setPriority(priority, of: id)
            case .watch(let id, let stream): watch(id, stream)
            case .stopWatching(let id, let stream): locations[id]?.log.stopWatching(id, stream)
            case .transferEnded(let id): transferEnded(id)
            case .mayStart: bytesInFlight.letBodiesGrow()
            case .rested(let id): endRest(id)
            case .timeIsUp: endOverdue()
            case .graceEnded: endGrace()
            }
        }
        messages.removeAll(keepingCapacity: messages.count <= Self.usualMessages)
        startNext()
        finishShutdownIfIdle()
    }

    /// Room for so many messages is kept for the next time.
    private static let usualMessages = 1_024

    /// Lets a caller share the download it wants, starting it if there is none.
    ///
    /// Whoever has cancelled already starts nothing.
    private func join(_ subscriber: Subscriber) {
        guard !subscriber.isSettled else { return }
        if case .pixels(let options) = subscriber.variant,
            let variant = subscriber.key.known(options), let known = cache.response(for: variant)
        {
            subscriber.deliver(known.image, byteCount: known.byteCount, from: .memory)
            return
        }
        guard shutdown == nil else { return subscriber.fail(ImageError.shutDown) }
        if let download = joinable[subscriber.key], attach(subscriber, to: download, isJoined: true) { return }
        let download = makeDownload(subscriber)
        _ = attach(subscriber, to: download, isJoined: false)
        guard !enqueueLookUp(of: download) else { return }
        if hasRoom, queue.admit(download.id, host: download.key.url.host, priority: subscriber.priority) {
            return start(download)
        }
        queue.enqueue(
            download.id, host: download.key.url.host, priority: subscriber.priority, sequence: subscriber.id)
    }

    private func setPriority(_ priority: DownloadPriority, of id: Subscriber.ID) {
        guard let download = locations[id] else { return }
        download.setPriority(priority, of: id)
        reprioritize(download)
    }

    private func reprioritize(_ download: Download) {
        queue.reprioritize(download.id, to: download.priority)
        lookUps?.reprioritize(download.id, to: download.priority)
    }

    private func makeDownload(_ subscriber: Subscriber) -> Download {
        lastDownload += 1
        let log = BodyLog(replayLimit: configuration.replayLimit, bytesInFlight: bytesInFlight)
        #if Tracing
        let span = tracing.map { DownloadSpan($0, of: subscriber.key.url, parent: subscriber.context) }
        let events = listeners.sender(for: lastDownload, subscriber.key.url, also: span?.note)
        #else
        let events = listeners.sender(for: lastDownload, subscriber.key.url)
        #endif
        let download = Download(
            id: lastDownload, key: subscriber.key, sequence: subscriber.id, log: log, events: events,
            time: TimeAllowance(configuration.deadlines.total))
        #if Tracing
        download.span = span
        #endif
        download.events?.send(.queued(subscriber.priority))
        downloads[download.id] = download
        joinable[download.key] = download
        return download
    }

    /// False if the download cannot serve the caller any more, because the beginning of its body is gone.
    private func attach(_ subscriber: Subscriber, to download: Download, isJoined: Bool) -> Bool {
        var subscriber = subscriber
        subscriber.isJoined = isJoined
        switch subscriber.wish {
        case .data(let answer):
            guard download.log.collect(for: answer, isJoined: isJoined) else { return false }
            if case .received = download.state { return true }
        case .bytes(let feed):
            guard let reader = download.log.makeReader() else { return false }
            feed.attach(reader, of: download.log, isJoined: isJoined)
            if case .received = download.state { return true }
        case .info, .image, .animation:
            guard decode(subscriber, from: download) != nil else { return false }
        case .frames(_, let channel):
            guard let decode = decode(subscriber, from: download) else { return false }
            decode.frames.add(channel, id: subscriber.id)
            channel.onDemand { [reader = decode.reader] in reader.poke() }
        case .animationFrames(_, let channel):
            guard let decode = decode(subscriber, from: download) else { return false }
            decode.animations?.add(channel, id: subscriber.id)
            channel.onDemand { [reader = decode.reader] in reader.poke() }
        }
        download.add(subscriber)
        locations[subscriber.id] = download
        if isJoined { reprioritize(download) }
        return true
    }

    /// Lets a caller see how its download gets on; it sees nothing of one that is over.
    private func watch(_ id: Subscriber.ID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        guard let download = locations[id] else { return stream.finish() }
        download.log.watch(id, stream)
    }

    /// A caller has cancelled.
    ///
    /// The last one out stops the download.
    func remove(_ id: Subscriber.ID) {
        guard let download = locations.removeValue(forKey: id),
            let subscriber = download.remove(id)
        else { return }
        download.log.stopWatching(id)
        if let variant = subscriber.variant {
            download.decodes[variant]?.frames.remove(id)
            download.decodes[variant]?.animations?.remove(id)
            if !download.isWanted(variant) {
                download.decodes.removeValue(forKey: variant)?.task.cancel()
            }
        } else if case .data(let answer) = subscriber.wish {
            download.log.stopCollecting(for: answer)
        }
        if download.subscribers.isEmpty {
            abandon(download)
        } else {
            reprioritize(download)
        }
    }
}

// MARK: - The next start

extension DownloadCoordinator {
    /// Starts what may run now; what only a host's rate holds up, when it may.
    func startNext() {
        startLookUps()
        let alarm = rateAlarmIfLimited()
        if let alarm { queue.advance(to: alarm.now.elapsed) }
        while hasRoom, let id = queue.next() {
            if let download = downloads[id] { start(download) }
        }
        if let alarm, let time = queue.nextStart { alarm.set(Stopwatch.Instant(elapsed: time)) }
    }

    /// Whether there is memory for what is downloaded next.
    ///
    /// If nothing runs and nothing is decoded, nobody would give any back, so one may always start.
    var hasRoom: Bool {
        bytesInFlight.hasRoom
            || runningCount == 0 && queue.waitingCount + (lookUps?.waitingCount ?? 0) == downloads.count
    }

    /// Downloads that have a slot, or are served from the response cache.
    var runningCount: Int { queue.runningCount + (lookUps?.runningCount ?? 0) }

    private func rateAlarmIfLimited() -> Alarm<Stopwatch>? {
        guard queue.rateLimit != nil else { return nil }
        if let rateAlarm { return rateAlarm }
        let alarm = Alarm(clock: Stopwatch(clock)) { [weak self] in self?.post(.mayStart) }
        rateAlarm = alarm
        return alarm
    }
}
