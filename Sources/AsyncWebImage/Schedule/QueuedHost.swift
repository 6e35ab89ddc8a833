import HeapModule

/// What a ``DownloadQueue`` knows of one host.
struct QueuedHost {
    let name: String
    var running = 0
    /// Of these, those of low priority.
    var runningLow = 0
    var waiting = 0
    /// Those that wait, by priority.
    var lanes: [5 of Lane] = .init(repeating: Lane())
    var bucket = TokenBucket()
    /// When the host is to be announced because its rate allows the next start.
    var refill: Duration?

    init(name: String) {
        self.name = name
    }

    var isIdle: Bool { running == 0 && waiting == 0 }
}

/// Where a download waits.
struct WaitingPlace {
    let host: Int
    let priority: DownloadPriority
    let ticket: Ticket
}

/// A download in a lane; out of date once it waits elsewhere, or no longer.
struct Ticket: Comparable {
    let sequence: UInt64
    /// Tells the places of one download apart.
    let number: UInt64
    let id: DownloadQueue.ID

    static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
}

/// The downloads of one host and priority that wait.
struct Lane {
    private var tickets = Heap<Ticket>()
    private var count = 0
    /// The sequence by which the queue knows that the lane's next download may run.
    var announced: UInt64?

    mutating func insert(_ ticket: Ticket) {
        count += 1
        tickets.insert(ticket)
    }

    /// One of the tickets is out of date from now on.
    mutating func removeOne(of waiting: [DownloadQueue.ID: WaitingPlace]) {
        count -= 1
        if count == 0 {
            self = Lane()
        } else if tickets.count > 64, tickets.count > 4 * count {
            // Behind one that does not move, others come and are canceled.
            tickets = Heap(tickets.unordered.filter { $0.isCurrent(in: waiting) })
        }
    }

    /// The next to run; what is out of date before it is dropped.
    mutating func head(_ order: ExecutionOrder, of waiting: [DownloadQueue.ID: WaitingPlace]) -> Ticket? {
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
