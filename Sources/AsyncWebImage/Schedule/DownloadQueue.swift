import HeapModule

/// A queue that selects the next download by priority, then in FIFO or LIFO order, within a limit in total and per
/// host.
///
/// A pure value: no clock, no lock, no waiting. Every operation takes logarithmic time, except for changes of a rule,
/// which take time proportional to the number of hosts.
struct DownloadQueue {
    typealias ID = DownloadID

    /// The maximum number of concurrent downloads.
    var limit: Int
    /// The maximum number of concurrent downloads from one host.
    var limitPerHost: Int {
        didSet { if limitPerHost > oldValue { announceAll() } }
    }
    /// The maximum number of concurrent downloads from one host where each may need a connection.
    var connectionsPerHost: Int {
        didSet { if connectionsPerHost > oldValue { announceAll() } }
    }
    /// The order within a priority.
    var order: DownloadConfiguration.ExecutionOrder {
        didSet { if order != oldValue { announceAll() } }
    }
    /// A Boolean value that indicates whether no waiting download may start.
    var isSuspended = false
    /// The rate limit per host; changing it resets the state of every host.
    var rateLimit: RateLimit? {
        didSet { if rateLimit != oldValue { refillAll() } }
    }

    private struct Slot {
        let host: Int
        var isLow: Bool
    }

    private var hosts = QueuedHosts()
    private var multiplexedHosts = MultiplexedHosts()
    private var waiting: [ID: WaitingPlace] = [:]
    private var running: [ID: Slot] = [:]
    private var runningLow = 0
    private var lastTicket: UInt64 = 0
    private var ready = ReadyHosts()
    /// The hosts that are limited by their rate.
    private var refills = Heap<Refill>()
    private var time = Duration.zero
    /// The number of hosts that became idle with a rate not yet restored, since ``removeIdleHosts()``.
    private var idleHosts = 0

    init(
        limit: Int, limitPerHost: Int, connectionsPerHost: Int = .max, order: DownloadConfiguration.ExecutionOrder,
        rateLimit: RateLimit? = nil
    ) {
        self.limit = limit
        self.limitPerHost = limitPerHost
        self.connectionsPerHost = connectionsPerHost
        self.order = order
        self.rateLimit = rateLimit
    }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }
    /// A Boolean value that indicates whether a download of any host could start.
    var hasFreeSlot: Bool { !isSuspended && running.count < limit }
    /// The number of waiting downloads, by priority.
    private(set) var waitingCounts: [5 of Int] = [0, 0, 0, 0, 0]
}

// MARK: - Adding and removing downloads

extension DownloadQueue {
    /// Starts a new download immediately if it would be the next one; returns `false` if it must wait.
    mutating func admit(_ id: ID, host: String, priority: DownloadPriority) -> Bool {
        // With a rate limit, the time would be needed.
        guard waiting.isEmpty, hasFreeSlot, rateLimit == nil else { return false }
        guard !priority.isLow || runningLow < Self.lowShare(of: limit) else { return false }
        let host = index(of: host)
        guard hasSlot(host, priority) else { return false }
        takeSlot(id, host, priority)
        return true
    }

    /// Adds a waiting download; `sequence` is its position by time of arrival.
    mutating func enqueue(_ id: ID, host: String, priority: DownloadPriority, sequence: UInt64) {
        enqueue(id, host: index(of: host), priority: priority, sequence: sequence)
    }

    /// Removes a waiting download; has no effect on a running one.
    mutating func remove(_ id: ID) {
        guard let place = takeOut(id) else { return }
        forgetIfIdle(place.host)
    }

    /// Changes the priority of a download.
    ///
    /// A waiting download is placed by its time of arrival; a running one occupies a slot of the new priority.
    mutating func reprioritize(_ id: ID, to priority: DownloadPriority) {
        if let place = waiting[id] {
            guard place.priority != priority else { return }
            takeOut(id)
            enqueue(id, host: place.host, priority: priority, sequence: place.ticket.sequence)
        } else if let slot = running[id], slot.isLow != priority.isLow {
            running[id]?.isLow = priority.isLow
            runningLow += priority.isLow ? 1 : -1
            hosts.states[slot.host].runningLow += priority.isLow ? 1 : -1
            announce(slot.host)
        }
    }

    /// Starts the next download, which then occupies a slot, and returns it; `nil` if none may start.
    mutating func next() -> ID? {
        guard hasFreeSlot else { return nil }
        for priority in DownloadPriority.descending {
            guard !priority.isLow || runningLow < Self.lowShare(of: limit) else { return nil }
            while let announcement = ready.pop(priority, order) {
                let host = announcement.host
                // A host without a free slot is announced again when one is released.
                guard hosts.states[host].lanes[priority.rawValue].announced == announcement.sequence else { continue }
                hosts.states[host].lanes[priority.rawValue].announced = nil
                guard hasSlot(host, priority), isInRate(host),
                    let ticket = hosts.states[host].lanes[priority.rawValue].head(order, of: waiting)
                else { continue }
                takeSlot(ticket.id, host, priority)
                takeOut(ticket.id)
                return ticket.id
            }
        }
        return nil
    }

    /// Releases the slot of a running download; if no request was sent, the start does not count toward the rate.
    mutating func release(_ id: ID, wasStarted: Bool = true) {
        guard let slot = running.removeValue(forKey: id) else { return }
        hosts.states[slot.host].running -= 1
        if !wasStarted, let rateLimit { hosts.states[slot.host].bucket.giveBack(rateLimit) }
        if slot.isLow {
            hosts.states[slot.host].runningLow -= 1
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
        hosts.states[host].waiting += 1
        hosts.states[host].lanes[priority.rawValue].insert(ticket)
        announce(host, priority)
    }

    @discardableResult
    private mutating func takeOut(_ id: ID) -> WaitingPlace? {
        guard let place = waiting.removeValue(forKey: id) else { return nil }
        waitingCounts[place.priority.rawValue] -= 1
        hosts.states[place.host].waiting -= 1
        hosts.states[place.host].lanes[place.priority.rawValue].removeOne(of: waiting)
        announce(place.host, place.priority)
        return place
    }

    private mutating func takeSlot(_ id: ID, _ host: Int, _ priority: DownloadPriority) {
        running[id] = Slot(host: host, isLow: priority.isLow)
        hosts.states[host].running += 1
        if priority.isLow {
            hosts.states[host].runningLow += 1
            runningLow += 1
        }
        if let rateLimit { hosts.states[host].bucket.take(at: time, rateLimit) }
    }
}

// MARK: - Selecting the next download

extension DownloadQueue {
    /// Returns the number of slots available to low priorities: half of them, or one if there is only one.
    private static func lowShare(of slots: Int) -> Int { slots / 2 + slots % 2 }

    private func hasSlot(_ host: Int, _ priority: DownloadPriority) -> Bool {
        let limit = hosts.states[host].isMultiplexed ? limitPerHost : min(limitPerHost, connectionsPerHost)
        return hosts.states[host].running < limit
            && (!priority.isLow || hosts.states[host].runningLow < Self.lowShare(of: limit))
    }

    /// Announces the next download of each priority to ``next()``.
    private mutating func announce(_ host: Int) {
        guard hosts.states[host].waiting > 0 else { return }
        for priority in DownloadPriority.descending { announce(host, priority) }
    }

    private mutating func announce(_ host: Int, _ priority: DownloadPriority) {
        let lane = priority.rawValue
        guard hasSlot(host, priority), let head = hosts.states[host].lanes[lane].head(order, of: waiting),
            isInRate(host), hosts.states[host].lanes[lane].announced != head.sequence
        else { return }
        hosts.states[host].lanes[lane].announced = head.sequence
        ready.insert(priority, host: host, sequence: head.sequence)
        if ready.holdsTooMany(priority, for: hosts.count) { ready.removeOutdated(priority, of: hosts) }
    }

    private mutating func announceAll() {
        ready.removeAll()
        for host in hosts.indices {
            for priority in DownloadPriority.descending { hosts.states[host].lanes[priority.rawValue].announced = nil }
            announce(host)
        }
    }
}

// MARK: - Protocols

extension DownloadQueue {
    /// Records whether the downloads of a host share a connection, as seen in its latest response; until then, each may
    /// need one.
    mutating func learn(_ host: String, isMultiplexed: Bool) {
        guard multiplexedHosts.learn(host, isMultiplexed: isMultiplexed), let host = hosts.known(host) else { return }
        hosts.states[host].isMultiplexed = isMultiplexed
        if isMultiplexed { announce(host) }
    }

    /// Returns the number of a host.
    private mutating func index(of name: String) -> Int {
        if let host = hosts.known(name) { return host }
        let host = hosts.add(name)
        hosts.states[host].isMultiplexed = multiplexedHosts.contains(name)
        return host
    }
}

// MARK: - Rate limit

extension DownloadQueue {
    /// The time when the next download that is delayed only by its rate may start; `nil` if there is none.
    ///
    /// Valid when ``next()`` returns `nil`.
    var nextStart: Duration? { !waiting.isEmpty && hasFreeSlot ? refills.min?.time : nil }

    /// The number of waiting downloads whose host's rate does not allow a start now.
    var rateLimitedCount: Int {
        hosts.indices.reduce(0) { hosts.states[$1].refill == nil ? $0 : $0 + hosts.states[$1].waiting }
    }

    /// Sets the current time, relative to any fixed moment; only needed with a ``rateLimit``.
    mutating func advance(to time: Duration) {
        self.time = max(self.time, time)
        while let refill = refills.min, refill.time <= self.time {
            refills.removeMin()
            guard hosts.states[refill.host].refill == refill.time else { continue }
            hosts.states[refill.host].refill = nil
            announce(refill.host)
        }
    }

    /// Returns whether a host's rate allows another start; otherwise the host is announced when it does.
    private mutating func isInRate(_ host: Int) -> Bool {
        guard let rateLimit else { return true }
        let start = hosts.states[host].bucket.nextStart(rateLimit)
        guard start > time else { return true }
        if hosts.states[host].refill != start {
            hosts.states[host].refill = start
            refills.insert(Refill(time: start, host: host))
        }
        return false
    }

    private mutating func refillAll() {
        refills = Heap()
        for host in hosts.indices {
            hosts.states[host].bucket = TokenBucket()
            hosts.states[host].refill = nil
        }
        announceAll()
        removeIdleHosts()
    }
}

// MARK: - Idle hosts

extension DownloadQueue {
    /// Removes a host without waiting or running downloads and without rate state.
    private mutating func forgetIfIdle(_ host: Int) {
        guard hosts.states[host].isIdle else { return }
        guard rateLimit == nil || hosts.states[host].bucket.isFull(at: time) else {
            idleHosts += 1
            // Rare enough that checking all hosts costs little on average.
            if idleHosts > max(64, hosts.count / 2) { removeIdleHosts() }
            return
        }
        forget(host)
    }

    private mutating func removeIdleHosts() {
        idleHosts = 0
        for host in Array(hosts.indices) where hosts.states[host].isIdle && hosts.states[host].bucket.isFull(at: time) {
            forget(host)
        }
    }

    private mutating func forget(_ host: Int) {
        guard hosts.remove(host) else { return }
        refills = Heap()
        ready.removeAll()
    }
}

/// The time when a host's rate allows its next start.
private struct Refill: Comparable {
    let time: Duration
    let host: Int

    static func < (left: Self, right: Self) -> Bool { left.time < right.time }
}
