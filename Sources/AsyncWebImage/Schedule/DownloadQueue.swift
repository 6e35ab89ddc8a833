import HeapModule

/// Decides which download runs next: by priority, then first or last come, within a cap for all and one for each host.
///
/// A pure value: no clock, no lock, no waiting. Every operation takes logarithmic time, those that change a rule as much
/// as there are hosts.
struct DownloadQueue {
    typealias ID = DownloadID

    /// The maximum number of downloads that run at a time.
    var limit: Int
    /// The maximum number of downloads from one host that run at a time.
    var hostLimit: Int {
        didSet { if hostLimit > oldValue { announceAll() } }
    }
    /// First or last come, first served.
    var order: ExecutionOrder {
        didSet { if order != oldValue { announceAll() } }
    }
    /// A Boolean value that indicates whether what waits goes on waiting, whatever is free.
    var isSuspended = false
    /// How often downloads from one host may start; a change lets every host begin anew.
    var rateLimit: RateLimit? {
        didSet { if rateLimit != oldValue { refillAll() } }
    }

    private struct Slot {
        let host: Int
        var isLow: Bool
    }

    private var hosts = QueuedHosts()
    private var waiting: [ID: WaitingPlace] = [:]
    private var running: [ID: Slot] = [:]
    private var runningLow = 0
    private var lastTicket: UInt64 = 0
    private var ready = ReadyHosts()
    /// The hosts that wait for their rate.
    private var refills = Heap<Refill>()
    private var time = Duration.zero
    /// How many hosts came to rest, their rate not yet restored, since ``forgetRested()``.
    private var restedHosts = 0

    init(limit: Int, hostLimit: Int, order: ExecutionOrder, rateLimit: RateLimit? = nil) {
        self.limit = limit
        self.hostLimit = hostLimit
        self.order = order
        self.rateLimit = rateLimit
    }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }
    /// How many wait, by priority.
    private(set) var waitingCounts: [5 of Int] = [0, 0, 0, 0, 0]
}

// MARK: - Downloads come and go

extension DownloadQueue {
    /// Lets a download run that has just come, if it would be the next anyway; false if it has to wait in line.
    mutating func admit(_ id: ID, host: String, priority: DownloadPriority) -> Bool {
        // With a rate, the time would have to be known.
        guard waiting.isEmpty, !isSuspended, running.count < limit, rateLimit == nil else { return false }
        guard !priority.isLow || runningLow < Self.lowShare(of: limit) else { return false }
        let host = hosts.index(of: host)
        guard hasSlot(host, priority) else { return false }
        takeSlot(id, host, priority)
        return true
    }

    /// Puts a download in line; `sequence` says when it came.
    mutating func enqueue(_ id: ID, host: String, priority: DownloadPriority, sequence: UInt64) {
        enqueue(id, host: hosts.index(of: host), priority: priority, sequence: sequence)
    }

    /// Takes a download out of line; without effect on one that runs.
    mutating func remove(_ id: ID) {
        guard let place = takeOut(id) else { return }
        forgetIfIdle(place.host)
    }

    /// Moves a download to another priority.
    ///
    /// The place there of one that waits is by when it came; one that runs takes a slot of that priority.
    mutating func reprioritize(_ id: ID, to priority: DownloadPriority) {
        if let place = waiting[id] {
            guard place.priority != priority else { return }
            takeOut(id)
            enqueue(id, host: place.host, priority: priority, sequence: place.ticket.sequence)
        } else if let slot = running[id], slot.isLow != priority.isLow {
            running[id]?.isLow = priority.isLow
            runningLow += priority.isLow ? 1 : -1
            hosts[slot.host].runningLow += priority.isLow ? 1 : -1
            announce(slot.host)
        }
    }

    /// The next download to run, which from now on takes a slot; nil if none may.
    mutating func next() -> ID? {
        guard !isSuspended, running.count < limit else { return nil }
        for priority in DownloadPriority.descending {
            guard !priority.isLow || runningLow < Self.lowShare(of: limit) else { return nil }
            while let announcement = ready.pop(priority, order) {
                let host = announcement.host
                // A host without a slot is announced again when one is released.
                guard hosts[host].lanes[priority.rawValue].announced == announcement.sequence else { continue }
                hosts[host].lanes[priority.rawValue].announced = nil
                guard hasSlot(host, priority), isInRate(host),
                    let ticket = hosts[host].lanes[priority.rawValue].head(order, of: waiting)
                else { continue }
                takeSlot(ticket.id, host, priority)
                takeOut(ticket.id)
                return ticket.id
            }
        }
        return nil
    }

    /// Frees the slot of a download that ran.
    mutating func release(_ id: ID) {
        guard let slot = running.removeValue(forKey: id) else { return }
        hosts[slot.host].running -= 1
        if slot.isLow {
            hosts[slot.host].runningLow -= 1
            runningLow -= 1
        }
        announce(slot.host)
        forgetIfIdle(slot.host)
    }

    private mutating func enqueue(_ id: ID, host: Int, priority: DownloadPriority, sequence: UInt64) {
        lastTicket += 1
        let ticket = Ticket(sequence: sequence, number: lastTicket, id: id)
        waiting[id] = WaitingPlace(host: host, priority: priority, ticket: ticket)
        waitingCounts[priority.rawValue] += 1
        hosts[host].waiting += 1
        hosts[host].lanes[priority.rawValue].insert(ticket)
        announce(host, priority)
    }

    @discardableResult
    private mutating func takeOut(_ id: ID) -> WaitingPlace? {
        guard let place = waiting.removeValue(forKey: id) else { return nil }
        waitingCounts[place.priority.rawValue] -= 1
        hosts[place.host].waiting -= 1
        hosts[place.host].lanes[place.priority.rawValue].removeOne(of: waiting)
        announce(place.host, place.priority)
        return place
    }

    private mutating func takeSlot(_ id: ID, _ host: Int, _ priority: DownloadPriority) {
        running[id] = Slot(host: host, isLow: priority.isLow)
        hosts[host].running += 1
        if priority.isLow {
            hosts[host].runningLow += 1
            runningLow += 1
        }
        if let rateLimit { hosts[host].bucket.take(at: time, rateLimit) }
    }
}

// MARK: - Who may run

extension DownloadQueue {
    /// How many of `slots` are within reach of low priorities: half of them, and one if there is but one.
    private static func lowShare(of slots: Int) -> Int { slots / 2 + slots % 2 }

    private func hasSlot(_ host: Int, _ priority: DownloadPriority) -> Bool {
        hosts[host].running < hostLimit
            && (!priority.isLow || hosts[host].runningLow < Self.lowShare(of: hostLimit))
    }

    /// Makes the next download of each priority known to ``next()``.
    private mutating func announce(_ host: Int) {
        guard hosts[host].waiting > 0 else { return }
        for priority in DownloadPriority.descending { announce(host, priority) }
    }

    private mutating func announce(_ host: Int, _ priority: DownloadPriority) {
        let lane = priority.rawValue
        guard hasSlot(host, priority), let head = hosts[host].lanes[lane].head(order, of: waiting), isInRate(host),
            hosts[host].lanes[lane].announced != head.sequence
        else { return }
        hosts[host].lanes[lane].announced = head.sequence
        ready.insert(priority, host: host, sequence: head.sequence)
        if ready.holdsTooMany(priority, for: hosts.count) { ready.removeOutdated(priority, of: hosts) }
    }

    private mutating func announceAll() {
        ready.removeAll()
        for host in hosts.indices {
            for priority in DownloadPriority.descending { hosts[host].lanes[priority.rawValue].announced = nil }
            announce(host)
        }
    }
}

// MARK: - The rate

extension DownloadQueue {
    /// When the next download may start that nothing but its rate holds up; nil if there is none.
    ///
    /// To be asked when ``next()`` has none.
    var nextStart: Duration? {
        guard !isSuspended, !waiting.isEmpty, running.count < limit else { return nil }
        return refills.min?.time
    }

    /// Says what time it is, counted from any moment; of importance only if there is a ``rateLimit``.
    mutating func advance(to time: Duration) {
        self.time = max(self.time, time)
        while let refill = refills.min, refill.time <= self.time {
            refills.removeMin()
            guard hosts[refill.host].refill == refill.time else { continue }
            hosts[refill.host].refill = nil
            announce(refill.host)
        }
    }

    /// Returns whether a host's rate lets one more start; if not, it is announced when it does.
    private mutating func isInRate(_ host: Int) -> Bool {
        guard let rateLimit else { return true }
        let start = hosts[host].bucket.nextStart(rateLimit)
        guard start > time else { return true }
        if hosts[host].refill != start {
            hosts[host].refill = start
            refills.insert(Refill(time: start, host: host))
        }
        return false
    }

    private mutating func refillAll() {
        refills = Heap()
        for host in hosts.indices {
            hosts[host].bucket = TokenBucket()
            hosts[host].refill = nil
        }
        announceAll()
        forgetRested()
    }
}

// MARK: - Hosts that are idle

extension DownloadQueue {
    /// A host that nothing waits for, nothing runs from and no rate is kept of needs no room.
    private mutating func forgetIfIdle(_ host: Int) {
        guard hosts[host].isIdle else { return }
        guard rateLimit == nil || hosts[host].bucket.isFull(at: time) else {
            restedHosts += 1
            // So seldom that looking at all of them costs each but little.
            if restedHosts > max(64, hosts.count / 2) { forgetRested() }
            return
        }
        forget(host)
    }

    private mutating func forgetRested() {
        restedHosts = 0
        for host in Array(hosts.indices) where hosts[host].isIdle && hosts[host].bucket.isFull(at: time) {
            forget(host)
        }
    }

    private mutating func forget(_ host: Int) {
        guard hosts.remove(host) else { return }
        refills = Heap()
        ready.removeAll()
    }
}

/// When a host's rate allows its next start.
private struct Refill: Comparable {
    let time: Duration
    let host: Int

    static func < (left: Self, right: Self) -> Bool { left.time < right.time }
}
