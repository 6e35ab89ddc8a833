/// Which deadline of a transfer comes next: where it is, and since when.
struct TransferClock {
    /// How far a transfer has come.
    enum Phase {
        case connecting
        case waitingForFirstByte
        case receiving
        case paused
    }

    private let deadlines: Deadlines
    private let start: ContinuousClock.Instant
    private(set) var phase = Phase.connecting
    /// When the phase began, or, while receiving, when the last bytes came.
    private var since: ContinuousClock.Instant

    init(_ deadlines: Deadlines, now: ContinuousClock.Instant) {
        self.deadlines = deadlines
        start = now
        since = now
    }

    /// The transfer is in `phase` now, or has made progress in it.
    mutating func enter(_ phase: Phase, now: ContinuousClock.Instant) {
        self.phase = phase
        since = now
    }

    /// The next deadline, if there is one.
    var next: (instant: ContinuousClock.Instant, kind: Deadlines.Kind)? {
        let (limit, kind): (Duration?, Deadlines.Kind) =
            switch phase {
            case .connecting: (deadlines.connect, .connect)
            case .waitingForFirstByte: (deadlines.firstByte, .firstByte)
            case .receiving: (deadlines.idle, .idle)
            case .paused: (nil, .idle)
            }
        let total = deadlines.total.map { (instant: start + $0, kind: Deadlines.Kind.total) }
        guard let limit else { return total }
        let own = (instant: since + limit, kind: kind)
        guard let total, total.instant < own.instant else { return own }
        return total
    }
}
