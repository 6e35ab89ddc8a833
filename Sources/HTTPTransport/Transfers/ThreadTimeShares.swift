/// Keeps a transfer from occupying the worker's thread while others wait.
///
/// libcurl reads from a socket up to a hundred times in one call, which takes seconds if the body arrives in chunks
/// of one byte. A transfer that has used up its share is paused, and continues when all other sockets have been
/// served; the data that libcurl has read by then is delivered in large pieces. Confined to the worker's thread.
final class ThreadTimeShares {
    private var clock = ShareClock()
    private var yielding: [ActiveTransfer] = []

    /// A Boolean value that indicates whether paused transfers wait for their next turn.
    var hasWaiting: Bool { !yielding.isEmpty }

    /// Starts a round, in which each ready socket is served once.
    func beginRound(at now: MonotonicInstant) { clock.beginRound(at: now) }

    /// Records the start of a call of libcurl, or of a read from a connection.
    func beginCall() { clock.beginCall(at: .now) }

    /// Returns whether `transfer` must pause now; if so, it is included in the next ``takeWaiting()``.
    func endsTurn(of transfer: ActiveTransfer) -> Bool {
        guard clock.isSpent(at: .now) else { return false }
        yielding.append(transfer)
        return true
    }

    /// Returns the transfers paused since the last call.
    func takeWaiting() -> [ActiveTransfer] {
        defer { yielding.removeAll(keepingCapacity: true) }
        return yielding
    }
}

/// The time limits of calls that deliver bodies, of libcurl or for a connection of this module.
struct ShareClock {
    /// The time that every call may take; most calls take less.
    static let minimum = Duration.milliseconds(1)
    /// The maximum time of one call.
    static let maximum = Duration.milliseconds(5)
    /// The time after the start of a round from which calls may take no more than ``minimum``.
    static let round = Duration.milliseconds(20)

    private var roundStart = MonotonicInstant.now
    private var callStart = MonotonicInstant.now

    mutating func beginRound(at now: MonotonicInstant) { roundStart = now }

    mutating func beginCall(at now: MonotonicInstant) { callStart = now }

    /// Returns whether the current call has used up its share.
    func isSpent(at now: MonotonicInstant) -> Bool {
        let call = callStart.duration(to: now)
        return call >= Self.maximum || call >= Self.minimum && roundStart.duration(to: now) >= Self.round
    }
}
