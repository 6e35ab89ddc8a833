/// The current time of the worker's thread, and the time of the next check of deadlines.
///
/// Confined to the worker's thread. The clock is read once per iteration, because reading it for every piece of
/// every transfer is expensive; deadlines are precise to about ten milliseconds.
final class DeadlineWatch {
    /// The start of the current iteration.
    private(set) var now = MonotonicInstant.now
    /// The earliest time when a deadline may have passed; `nil` if there is none.
    private(set) var next: MonotonicInstant?

    /// The minimum time between two checks of all deadlines.
    private static let granularity = Duration.milliseconds(10)

    /// Begins an iteration of the thread's loop.
    func beginTurn() {
        now = .now
    }

    /// Schedules checks for a transfer whose `clock` has just started.
    ///
    /// This is sufficient: no deadline passes before the shortest one, and each check determines when the next one is
    /// due.
    func expect(_ clock: TransferClock) {
        if let shortest = clock.shortest { expect(within: shortest) }
    }

    /// Schedules a check after `limit` at the latest.
    func expect(within limit: Duration) {
        let first = now + limit
        if let next, next <= first { return }
        next = first
    }

    /// Returns the transfers of `transfers` that have passed a deadline; none unless a check is due.
    func overdue(_ transfers: some Sequence<ActiveTransfer>) -> [(ActiveTransfer, Deadlines.Kind)] {
        guard let check = next, check <= now else { return [] }
        var earliest: MonotonicInstant?
        var overdue: [(ActiveTransfer, Deadlines.Kind)] = []
        for transfer in transfers {
            let clock = transfer.clock
            if let next = clock.next, next.instant <= now {
                overdue.append((transfer, next.kind))
            } else {
                if let next = clock.next { earliest = min(earliest ?? next.instant, next.instant) }
                // Before this deadline passes, the transfer can enter another phase with a shorter limit.
                if let shortest = clock.shortest { earliest = min(earliest ?? now + shortest, now + shortest) }
            }
        }
        next = earliest.map { max($0, now + Self.granularity) }
        return overdue
    }
}
