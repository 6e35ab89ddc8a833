/// The time of the transport's thread, and when somebody has to look after deadlines next.
///
/// Confined to the transport's thread. The clock is read once a turn of the thread: deadlines are kept to about ten
/// milliseconds, and reading it for every piece of every transfer costs.
final class DeadlineWatch {
    /// When the current turn began.
    private(set) var now = ContinuousClock.now
    /// When the next deadline may have passed; nil while there is none.
    private(set) var next: ContinuousClock.Instant?

    /// Least time between two looks at all deadlines.
    private static let granularity = Duration.milliseconds(10)

    /// A turn of the thread begins.
    func beginTurn() {
        now = .now
    }

    /// Looks after the deadlines of a transfer whose `clock` has begun now.
    ///
    /// That is enough: whatever the transfer does, none of them passes before the shortest, and each look says when the
    /// next one is due.
    func expect(_ clock: TransferClock) {
        if let shortest = clock.shortest { expect(within: shortest) }
    }

    /// Looks after deadlines once `limit` has passed, if not before.
    func expect(within limit: Duration) {
        let first = now + limit
        if let next, next <= first { return }
        next = first
    }

    /// Which of `transfers` have passed a deadline; nothing unless it is time to look.
    func overdue(_ transfers: some Sequence<CurlTransfer>) -> [(CurlTransfer, Deadlines.Kind)] {
        guard let check = next, check <= now else { return [] }
        var earliest: ContinuousClock.Instant?
        var overdue: [(CurlTransfer, Deadlines.Kind)] = []
        for transfer in transfers {
            let clock = transfer.clock
            if let next = clock.next, next.instant <= now {
                overdue.append((transfer, next.kind))
            } else {
                if let next = clock.next { earliest = min(earliest ?? next.instant, next.instant) }
                // It may be in another phase, with a shorter limit, before the deadline of this one.
                if let shortest = clock.shortest { earliest = min(earliest ?? now + shortest, now + shortest) }
            }
        }
        next = earliest.map { max($0, now + Self.granularity) }
        return overdue
    }
}
