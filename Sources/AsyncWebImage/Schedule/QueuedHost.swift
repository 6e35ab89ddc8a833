import HeapModule

/// The state of one host in a ``DownloadQueue``.
struct QueuedHost {
    let name: String
    /// A Boolean value that indicates whether its downloads are known to share a connection.
    var isMultiplexed = false
    var running = 0
    /// The number of running downloads with low priority.
    var runningLow = 0
    var waiting = 0
    /// The waiting downloads, by priority.
    var lanes: [5 of Lane] = .init(repeating: Lane())
    var bucket = TokenBucket()
    /// The time when the host must be announced because its rate allows the next start.
    var refill: Duration?

    init(name: String) {
        self.name = name
    }

    var isIdle: Bool { running == 0 && waiting == 0 }
}

/// The position of a waiting download.
struct WaitingPlace {
    let host: Int
    let priority: DownloadPriority
    let ticket: Ticket
}

/// The entry of a download in a lane; outdated once the download waits elsewhere or no longer waits.
struct Ticket: Comparable {
    let sequence: UInt64
    /// A number that distinguishes the successive positions of one download.
    let number: UInt64
    let id: DownloadQueue.ID

    static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
}

/// The waiting downloads of one host and priority.
struct Lane {
    private var tickets = Heap<Ticket>()
    private var count = 0
    /// The sequence with which the lane's next download was announced to the queue.
    var announced: UInt64?

    mutating func insert(_ ticket: Ticket) {
        count += 1
        tickets.insert(ticket)
    }

    /// Records that one of the tickets is outdated.
    mutating func removeOne(of waiting: [DownloadQueue.ID: WaitingPlace]) {
        count -= 1
        if count == 0 {
            self = Lane()
        } else if tickets.count > 64, tickets.count > 4 * count {
            // While the first download does not move, others can be added and canceled.
            tickets = Heap(tickets.unordered.filter { $0.isCurrent(in: waiting) })
        }
    }

    /// Returns the next download to run; drops outdated tickets before it.
    mutating func head(_ order: DownloadConfiguration.ExecutionOrder, of waiting: [DownloadQueue.ID: WaitingPlace])
        -> Ticket?
    {
        while let ticket = order == .fifo ? tickets.min : tickets.max {
            if ticket.isCurrent(in: waiting) { return ticket }
            _ = order == .fifo ? tickets.popMin() : tickets.popMax()
        }
        return nil
    }
}

extension Ticket {
    fileprivate func isCurrent(in waiting: [DownloadQueue.ID: WaitingPlace]) -> Bool {
        waiting[id]?.ticket.number == number
    }
}
