/// Keeps one transfer from holding the transport's thread while others wait.
///
/// libcurl reads from a socket up to a hundred times in one call, which takes seconds if the body arrives as chunks of a
/// byte. A transfer whose call has used up its share is paused, and goes on when all other sockets have had their turn;
/// what libcurl has read by then is handed over in large pieces. Confined to the transport's thread.
final class ThreadShares {
    private var clock = ShareClock()
    private var yielding: [CurlTransfer] = []

    /// A Boolean value that indicates whether transfers wait for their next turn.
    var hasWaiting: Bool { !yielding.isEmpty }

    /// A round begins, in which each socket that is ready has one turn.
    func beginRound(at now: ContinuousClock.Instant) { clock.beginRound(at: now) }

    /// A call of libcurl begins.
    func beginCall() { clock.beginCall(at: .now) }

    /// Returns whether `transfer` has to pause now; if so, it is among the next ``takeWaiting()``.
    func endsTurn(of transfer: CurlTransfer) -> Bool {
        guard clock.isSpent(at: .now) else { return false }
        yielding.append(transfer)
        return true
    }

    /// Returns the transfers that have paused since the last time.
    func takeWaiting() -> [CurlTransfer] {
        defer { yielding.removeAll(keepingCapacity: true) }
        return yielding
    }
}

/// The time that calls of libcurl may take while bodies arrive.
struct ShareClock {
    /// The time that one call may always take; most take less.
    static let least = Duration.milliseconds(1)
    /// The time that one call may take at most.
    static let most = Duration.milliseconds(5)
    /// The time after the beginning of a round from which calls may take no more than ``least``.
    static let round = Duration.milliseconds(20)

    private var roundStart = ContinuousClock.now
    private var callStart = ContinuousClock.now

    mutating func beginRound(at now: ContinuousClock.Instant) { roundStart = now }

    mutating func beginCall(at now: ContinuousClock.Instant) { callStart = now }

    /// Returns whether the call that runs has used up its share.
    func isSpent(at now: ContinuousClock.Instant) -> Bool {
        let call = callStart.duration(to: now)
        return call >= Self.most || call >= Self.least && roundStart.duration(to: now) >= Self.round
    }
}
