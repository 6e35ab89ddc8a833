import DequeModule
import HTTPTransport
import ResponseCache

/// Decides everything about the life of downloads: which request joins which download, which download runs next, what
/// follows a failure, and when all is over.
///
/// A pure value without a clock, a lock or a wait: it is told what has happened and what time it is, and says what has to
/// be done. ``DownloadCoordinator`` tells it and performs the actions.
struct DownloadMachine {
    typealias ID = DownloadID
    typealias DecodeID = UInt64
    typealias Instant = Stopwatch.Instant

    /// The maximum number of downloads that the response cache answers, or is asked for, at a time.
    static let lookUpLimit = 8

    /// How downloads are made from now on.
    var configuration: DownloadConfiguration
    /// The downloads that wait for a slot, or have one.
    var queue: DownloadQueue
    /// The downloads that begin with a look-up in the response cache; nil without one.
    var lookUps: DownloadQueue?
    /// Every download that has callers or holds a slot.
    var downloads = DownloadTable()
    /// The downloads that a new caller joins.
    var joinable: [FetchKey: ID] = [:]
    /// Every caller that waits for an answer.
    var callers = CallerTable()
    /// Every decode that runs, including cancelled ones until they end.
    var decodes: [DecodeID: Decode] = [:]
    /// Beginnings of bodies whose download was given up.
    var interrupted: InterruptedBodies
    /// Whether there is memory for the bodies of further downloads.
    var hasMemory = true
    /// When the deadline alarm goes off; nil if it is not set.
    var nextDeadline: Instant?
    /// The end, once it has begun.
    var shutdown: Shutdown?
    /// The time of the event that is being handled.
    private(set) var now = Instant()
    private var lastDownload: ID = 0
    private var lastDecode: DecodeID = 0
    /// What has to be done, and has not been taken yet.
    private var actions: Deque<Action> = []

    init(_ configuration: DownloadConfiguration, hasResponseCache: Bool) {
        self.configuration = configuration
        interrupted = InterruptedBodies(limit: configuration.resumableLimit)
        queue = DownloadQueue(
            limit: configuration.slots, hostLimit: configuration.slotsPerHost, order: configuration.executionOrder,
            rateLimit: configuration.rateLimitPerHost)
        if hasResponseCache {
            lookUps = DownloadQueue(
                limit: Self.lookUpLimit, hostLimit: Self.lookUpLimit, order: configuration.executionOrder)
        }
    }

    /// Downloads that have a slot, and those that the response cache is answering.
    var runningCount: Int { queue.runningCount + (lookUps?.runningCount ?? 0) }

    /// Downloads that wait for a slot or a look-up.
    var waitingCount: Int { queue.waitingCount + (lookUps?.waitingCount ?? 0) }

    /// The number of downloads of a priority that wait for a slot or a look-up.
    func waitingCount(of priority: DownloadPriority) -> Int {
        queue.waitingCounts[priority.rawValue] + (lookUps?.waitingCounts[priority.rawValue] ?? 0)
    }
}

// MARK: - Events

extension DownloadMachine {
    /// Takes the next thing that has to be done because of the events so far; nil if there is nothing.
    ///
    /// Everything has to be done before the next event is told, except for events that doing it causes. The room that the
    /// actions take is used again.
    mutating func nextAction() -> Action? { actions.popFirst() }

    /// Handles one event; what has to be done because of it is taken by ``nextAction()``, in order.
    mutating func handle(_ event: consuming Event, at time: Instant) {
        now = max(now, time)
        switch event {
        case .join(let caller): join(caller)
        case .refused(let attachment): refused(attachment)
        case .leave(let caller): leave(caller)
        case .prioritize(let caller, let priority): prioritize(caller, priority)
        case .watch(let caller, let stream): emit(.watch(caller, of: callers.download(of: caller), stream))
        case .stopWatching(let caller, let stream):
            if let id = callers.download(of: caller) { emit(.stopWatching(caller, of: id, stream)) }
        case .notServed(let id, let decision): notServed(id, decision)
        case .transferEnded(let id, let end): transferEnded(id, end)
        case .decodeEnded(let decode, let isSuccess): decodeEnded(decode, isSuccess: isSuccess)
        case .resumable(let id, let resumption): resumable(id, resumption)
        case .keep(let resumption, let key): keep(resumption, for: key)
        case .backoffElapsed(let id): backoffElapsed(id)
        case .deadlinePassed: endOverdue()
        case .memory(let hasRoom): hasMemory = hasRoom
        case .schedule(let hasRoom): schedule(hasMemory: hasRoom)
        case .suspend: setSuspended(true)
        case .resume: setSuspended(false)
        case .cancelAll: stopAll(CancellationError())
        case .configure(let configuration): configure(configuration)
        case .shutDown(let gracePeriod): shutDown(gracePeriod: gracePeriod)
        case .gracePeriodEnded: endGracePeriod()
        }
    }

    mutating func emit(_ action: Action) { actions.append(action) }

    /// Reports an event that cannot happen to a download in its phase; nothing else comes of it.
    mutating func reject(_ event: StaticString, _ id: UInt64) {
        let phase = downloads.index(of: id).map { "\(downloads.states[$0].phase.name)" } ?? "unknown"
        emit(.report(UnexpectedEvent(name: "\(event)", id: id, phase: phase)))
    }

    mutating func newDownloadID() -> ID {
        lastDownload += 1
        return lastDownload
    }

    mutating func newDecodeID() -> DecodeID {
        lastDecode += 1
        return lastDecode
    }
}

/// An event that cannot happen to what it names, and so shows a fault in what reported it.
struct UnexpectedEvent: Error, Hashable, CustomStringConvertible {
    let name: String
    let id: UInt64
    let phase: String

    var description: String { "unexpected event \(name) for \(id), which is \(phase)" }
}
