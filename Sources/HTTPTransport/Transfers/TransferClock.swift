/// The deadlines of a transfer: its phase, and the start of the phase.
struct TransferClock {
    /// The phases of a transfer.
    enum Phase {
        case resolving
        case connecting
        case waitingForFirstByte
        case receiving
        /// The remainder of an intermediate response is read to keep the connection.
        case discarding
        case paused
    }

    /// The maximum time spent on keeping a connection.
    static let maximumDiscardTime = Duration.milliseconds(500)

    private let deadlines: Deadlines
    private let end: MonotonicInstant?
    private(set) var phase = Phase.resolving
    /// The start of the phase or, while receiving, the time when the last bytes were received.
    private var since: MonotonicInstant

    init(_ deadlines: Deadlines, now: MonotonicInstant) {
        self.deadlines = deadlines
        end = deadlines.total.map { now + $0 }
        since = now
    }

    /// Enters `phase`, or records progress in it.
    mutating func enter(_ phase: Phase, now: MonotonicInstant) {
        self.phase = phase
        since = now
    }

    /// Ends name resolution, whose time also counts as connecting.
    mutating func endResolving() {
        phase = .connecting
    }

    /// The shortest of the limits; `nil` if there is none.
    var shortest: Duration? {
        [deadlines.lookup, deadlines.connect, deadlines.firstByte, deadlines.idle, deadlines.total].lazy.compactMap {
            $0
        }.min()
    }

    /// The next deadline, if there is one.
    var next: (instant: MonotonicInstant, kind: Deadlines.Kind)? {
        let (limit, kind): (Duration?, Deadlines.Kind) =
            switch phase {
            case .resolving where isShorter(deadlines.lookup, than: deadlines.connect): (deadlines.lookup, .lookup)
            case .resolving, .connecting: (deadlines.connect, .connect)
            case .waitingForFirstByte: (deadlines.firstByte, .firstByte)
            case .receiving: (deadlines.idle, .idle)
            case .discarding: (Self.maximumDiscardTime, .idle)
            case .paused: (nil, .idle)
            }
        guard let limit else { return end.map { ($0, .total) } }
        let own = since + limit
        guard let end, end < own else { return (own, kind) }
        return (end, .total)
    }

    private func isShorter(_ limit: Duration?, than other: Duration?) -> Bool {
        guard let limit else { return false }
        return other.map { limit < $0 } ?? true
    }
}
