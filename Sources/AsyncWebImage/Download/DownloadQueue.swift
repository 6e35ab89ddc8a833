import HeapModule

/// Decides which download runs next: by priority, then first or last come, within a cap for all and one for each host.
///
/// A pure value: no clock, no lock, no waiting. Every operation takes logarithmic time.
struct DownloadQueue {
    typealias ID = UInt64

    /// Most downloads that run at a time.
    var limit: Int
    /// Most downloads from one host that run at a time.
    var hostLimit: Int {
        didSet { if hostLimit > oldValue { rebuildReady() } }
    }
    /// First or last come, first served.
    var order: ExecutionOrder {
        didSet { if order != oldValue { rebuildReady() } }
    }

    /// A place in a lane.
    ///
    /// Out of date once the download has left the queue or changed its priority.
    private struct Ticket: Comparable {
        let sequence: UInt64
        let id: ID

        static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
    }

    private struct Lane: Hashable {
        let priority: DownloadPriority
        let host: String
    }

    /// A host whose next download in a lane may run, by that download's sequence.
    private struct ReadyHost: Comparable {
        let sequence: UInt64
        let host: String

        static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
        static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
    }

    private var waiting: [ID: (lane: Lane, ticket: Ticket)] = [:]
    private var running: [ID: String] = [:]
    private var runningByHost: [String: Int] = [:]
    private var lanes: [Lane: Heap<Ticket>] = [:]
    /// By priority.
    private var ready = [Heap<ReadyHost>](repeating: Heap(), count: DownloadPriority.descending.count)

    init(limit: Int, hostLimit: Int, order: ExecutionOrder) {
        self.limit = limit
        self.hostLimit = hostLimit
        self.order = order
    }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }

    /// Lets a download run that has just come, if it would be the next anyway; false if it has to wait in line.
    mutating func admit(_ id: ID, host: String) -> Bool {
        guard waiting.isEmpty, running.count < limit, hasSlot(host) else { return false }
        takeSlot(id, host)
        return true
    }

    /// Puts a download in line; `sequence` says when it came.
    mutating func enqueue(_ id: ID, host: String, priority: DownloadPriority, sequence: UInt64) {
        let lane = Lane(priority: priority, host: host)
        let ticket = Ticket(sequence: sequence, id: id)
        waiting[id] = (lane, ticket)
        lanes[lane, default: Heap()].insert(ticket)
        if head(of: lane) == ticket { announce(lane) }
    }

    /// Takes a download out of line; without effect on one that runs.
    mutating func remove(_ id: ID) {
        guard let (lane, _) = waiting.removeValue(forKey: id) else { return }
        dropOutOfDate(lane)
        announce(lane)
    }

    /// Moves a waiting download to another priority; its place there is by when it came.
    mutating func reprioritize(_ id: ID, to priority: DownloadPriority) {
        guard let (lane, ticket) = waiting[id], lane.priority != priority else { return }
        remove(id)
        enqueue(id, host: lane.host, priority: priority, sequence: ticket.sequence)
    }

    /// The next download to run, which from now on takes a slot; nil if none may.
    mutating func next() -> ID? {
        guard running.count < limit else { return nil }
        for priority in DownloadPriority.descending {
            while let candidate = popReady(priority) {
                let lane = Lane(priority: priority, host: candidate.host)
                // Every change of a lane's head is announced anew, so whatever is not the head now is out of date. A
                // host at its cap is announced when one of its slots is released.
                guard let head = head(of: lane), head.sequence == candidate.sequence, hasSlot(lane.host) else {
                    continue
                }
                waiting[head.id] = nil
                takeSlot(head.id, lane.host)
                announce(lane)
                return head.id
            }
        }
        return nil
    }

    /// Frees the slot of a download that ran.
    mutating func release(_ id: ID) {
        guard let host = running.removeValue(forKey: id) else { return }
        let left = (runningByHost[host] ?? 1) - 1
        runningByHost[host] = left > 0 ? left : nil
        guard !lanes.isEmpty else { return }
        for priority in DownloadPriority.descending { announce(Lane(priority: priority, host: host)) }
    }

    private mutating func takeSlot(_ id: ID, _ host: String) {
        running[id] = host
        runningByHost[host, default: 0] += 1
    }

    private func hasSlot(_ host: String) -> Bool { (runningByHost[host] ?? 0) < hostLimit }

    /// The download that is next in a lane; what is out of date before it is dropped.
    private mutating func head(of lane: Lane) -> Ticket? {
        while let ticket = order == .fifo ? lanes[lane]?.min : lanes[lane]?.max {
            if let entry = waiting[ticket.id], entry.lane == lane { return ticket }
            _ = order == .fifo ? lanes[lane]?.popMin() : lanes[lane]?.popMax()
        }
        lanes[lane] = nil
        return nil
    }

    /// Keeps a lane from filling up with downloads that were cancelled behind one that does not move.
    private mutating func dropOutOfDate(_ lane: Lane) {
        guard let tickets = lanes[lane], tickets.count > 64, tickets.count > 4 * waiting.count else { return }
        lanes[lane] = Heap(tickets.unordered.filter { waiting[$0.id]?.lane == lane })
    }

    /// Makes a lane's head known to ``next()``.
    private mutating func announce(_ lane: Lane) {
        guard hasSlot(lane.host), let head = head(of: lane) else { return }
        ready[lane.priority.rawValue].insert(ReadyHost(sequence: head.sequence, host: lane.host))
    }

    private mutating func popReady(_ priority: DownloadPriority) -> ReadyHost? {
        order == .fifo ? ready[priority.rawValue].popMin() : ready[priority.rawValue].popMax()
    }

    private mutating func rebuildReady() {
        for priority in DownloadPriority.descending { ready[priority.rawValue] = Heap() }
        for lane in Array(lanes.keys) { announce(lane) }
    }
}

/// In which order downloads of one priority run.
public enum ExecutionOrder: Sendable, Hashable {
    /// First come, first served.
    case fifo
    /// Last come, first served: a stack.
    case lifo
}
