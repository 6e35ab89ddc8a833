import DequeModule
import HTTPTransport
import ResponseCache

/// Makes all decisions about downloads: which request joins which download, which download runs next, what follows a
/// failure, and when a shutdown is complete.
///
/// A pure value without a clock, a lock, or waiting: it receives events with the time, and returns actions.
/// ``DownloadCoordinator`` sends the events and performs the actions.
struct DownloadMachine {
    typealias ID = DownloadID
    typealias DecodeID = UInt64
    typealias Instant = Stopwatch.Instant

    /// The maximum number of concurrent lookups in the response cache and responses from it.
    static let maximumConcurrentLookups = 16

    /// The maximum number of downloads of low priority that wait while a stale response is revalidated as well.
    static let maximumWaitingRefreshes = 64

    /// The current configuration of downloads.
    var configuration: DownloadConfiguration
    /// The downloads that wait for a slot, or have one.
    var queue: DownloadQueue
    /// The downloads that begin with a lookup in the response cache; `nil` without a cache.
    var lookups: DownloadQueue?
    /// Every download that has callers or holds a slot.
    var downloads = DownloadTable()
    /// The downloads that new callers can join.
    var joinable: [FetchKey: ID] = [:]
    /// The slots of load groups.
    var slots = LoadSlots()
    /// The downloads that wait for the slot of an element of a load group, outside of the queue.
    var parked: Set<ID> = []
    /// The slot of a load group that each transfer uses, if it needs one.
    var slotsInUse: [ID: LoadSlot] = [:]
    /// All waiting callers.
    var callers = CallerTable()
    /// All active decodes, including canceled ones until they end.
    var decodes: [DecodeID: Decode] = [:]
    /// The partial bodies of abandoned downloads.
    var interrupted: InterruptedBodies
    /// A Boolean value that indicates whether there is memory for the bodies of further downloads.
    var hasMemory = true
    /// The time of the deadline alarm; `nil` if it is not set.
    var nextDeadline: Instant?
    /// The time for which the download waited for a slot that was the last to begin.
    var latestWait = Duration.zero
    /// The shutdown, once it has begun.
    var shutdown: Shutdown?
    /// The number of the current turn, which ends when downloads have been started.
    var turn: UInt64 = 0
    /// The time of the current event.
    private(set) var now = Instant()
    private var lastDownload: ID = 0
    private var lastDecode: DecodeID = 0
    /// The actions that have not been taken yet.
    private var actions: Deque<Action> = []

    init(_ configuration: DownloadConfiguration, hasResponseCache: Bool) {
        self.configuration = configuration
        interrupted = InterruptedBodies(limit: configuration.maximumResumableBytes)
        queue = DownloadQueue(
            limit: configuration.slots, limitPerHost: configuration.slotsPerHost,
            connectionsPerHost: configuration.connectionsPerHost, order: configuration.executionOrder,
            rateLimit: configuration.rateLimitPerHost)
        if hasResponseCache {
            lookups = DownloadQueue(
                limit: Self.maximumConcurrentLookups, limitPerHost: Self.maximumConcurrentLookups,
                order: configuration.executionOrder)
        }
    }

    /// The number of downloads that have a slot, and of those that the response cache is answering.
    var runningCount: Int { queue.runningCount + (lookups?.runningCount ?? 0) }

    /// The number of downloads that wait for a slot or a lookup.
    var waitingCount: Int { queue.waitingCount + (lookups?.waitingCount ?? 0) + parked.count }

    /// The number of downloads that wait until a failed attempt is retried.
    var backingOffCount: Int {
        downloads.states.count { state in
            if case .backingOff = state.phase { true } else { false }
        }
    }

    /// Returns the number of downloads of a priority that wait for a slot or a lookup.
    func waitingCount(of priority: DownloadPriority) -> Int {
        let parked = parked.count { downloads[id: $0]?.callers.priority == priority }
        return queue.waitingCounts[priority.rawValue] + (lookups?.waitingCounts[priority.rawValue] ?? 0) + parked
    }
}

// MARK: - Events

extension DownloadMachine {
    /// Removes and returns the next action that results from the events so far; `nil` if there is none.
    ///
    /// Perform all actions before handling the next event, except for events that the actions cause. The capacity for
    /// actions is reused.
    mutating func nextAction() -> Action? { actions.popFirst() }

    /// Handles one event; the resulting actions are returned by ``nextAction()``, in order.
    mutating func handle(_ event: consuming Event, at time: Instant) {
        now = max(now, time)
        switch event {
        case .join(let caller): join(caller)
        case .mismatched(let mismatches, let isStored): mismatched(mismatches, isStored: isStored)
        case .refresh(let caller): refresh(caller)
        case .refused(let attachment): refused(attachment)
        case .leave(let caller): leave(caller)
        case .callerTimedOut(let caller): timeOut(caller)
        case .forget(let key): interrupted.removeAll(for: key)
        case .prioritize(let caller, let priority): prioritize(caller, priority)
        case .decided(let id, let decision): decided(id, decision)
        case .transferEnded(let id, let end, let peer):
            // Before the slot is released, so that the next starts are subject to the right limit.
            if let peer { queue.learn(peer.host, isMultiplexed: peer.isMultiplexed) }
            transferEnded(id, end)
        case .decodeEnded(let decode, let isSuccess): decodeEnded(decode, isSuccess: isSuccess)
        case .resumable(let id, let resumption): resumable(id, resumption)
        case .keep(let resumption, let key): keep(resumption, for: key)
        case .backoffElapsed(let id): backoffElapsed(id)
        case .slot(let signal): handle(signal)
        case .deadlinePassed: endOverdue()
        case .memory(let hasCapacity): hasMemory = hasCapacity
        case .schedule(let hasCapacity): schedule(hasMemory: hasCapacity)
        case .suspend: setSuspended(true)
        case .resume: setSuspended(false)
        case .cancelAll: stopAll(CancellationError())
        case .configure(let configuration): configure(configuration)
        case .shutDown(let gracePeriod, let startsWaiting):
            shutDown(gracePeriod: gracePeriod, startsWaiting: startsWaiting)
        case .gracePeriodEnded: endGracePeriod()
        }
    }

    mutating func emit(_ action: consuming Action) { actions.append(action) }

    /// Reports an event that is invalid in the phase of its download; it has no other effect.
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

/// An event that is invalid in the current state, which indicates a defect in its source.
struct UnexpectedEvent: Error, Hashable, CustomStringConvertible {
    let name: String
    let id: UInt64
    let phase: String

    var description: String { "unexpected event \(name) for \(id), which is \(phase)" }
}
