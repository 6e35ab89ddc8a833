import DequeModule

/// The servers that have just asked for calm (RFC 9113, section 7: ENHANCE_YOUR_CALM), and the transfers that need further
/// connections to them.
///
/// The transfer that is told so fails, and its sender repeats it after a delay. For as long as that delay is at most, by
/// default, the others wait: the server must not get another connection at once.
struct CalmPeriods {
    /// The time from a demand, within which no further connection to the server is opened.
    static let duration = Duration.milliseconds(500)
    /// The number of servers that are remembered.
    static let maximumServers = 1_024

    private struct Period {
        var end: MonotonicInstant
        var waiting: [UInt64] = []
    }

    private var periods: [ConnectionKey: Period] = [:]
    /// The ends of the periods in order, and those of periods that have been extended.
    private var ends: Deque<(key: ConnectionKey, end: MonotonicInstant)> = []
    /// The transfers that no longer wait, in order.
    private var released: Deque<UInt64> = []

    /// A Boolean value that indicates whether transfers no longer wait.
    var hasReleased: Bool { !released.isEmpty }

    /// The time when ``end(at:)`` must be called; `nil` if there is no period.
    var next: MonotonicInstant? { ends.first?.end }

    /// Begins or extends the period of a server.
    mutating func insert(_ key: ConnectionKey, at now: MonotonicInstant) {
        let end = now + Self.duration
        // Of many requests at the same time, each can be answered so.
        guard periods[key]?.end != end else { return }
        if periods[key] == nil, periods.count >= Self.maximumServers { endFirst() }
        periods[key, default: Period(end: end)].end = end
        ends.append((key, end))
    }

    /// Returns whether a transfer must not open a connection now; if so, it waits.
    mutating func makesWait(_ transfer: UInt64, for key: ConnectionKey, at now: MonotonicInstant) -> Bool {
        guard let period = periods[key], now < period.end else { return false }
        periods[key]?.waiting.append(transfer)
        return true
    }

    /// Ends the periods that are over.
    mutating func end(at now: MonotonicInstant) {
        while let next, next <= now { endFirst() }
    }

    /// Removes and returns a transfer that no longer waits; `nil` if there is none.
    mutating func takeReleased() -> UInt64? { released.popFirst() }

    /// Ends the period that began first, unless it has been extended.
    private mutating func endFirst() {
        guard let (key, end) = ends.popFirst(), let period = periods[key], period.end == end else { return }
        periods[key] = nil
        released.append(contentsOf: period.waiting)
    }
}
