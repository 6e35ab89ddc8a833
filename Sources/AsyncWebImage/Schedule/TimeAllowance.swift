/// The time limit of one download over all its attempts.
///
/// A pure value that receives the time as a parameter. It runs from the first lookup or attempt, including delays and
/// waits between attempts; only waits for the first slot, and for the slot of a load group, do not count.
struct TimeAllowance {
    /// The remaining time while it is paused; `nil` means no limit.
    private var left: Duration?
    /// The time when it expires; `nil` while it is paused, and without a limit.
    private(set) var end: Stopwatch.Instant?

    init(_ limit: Duration?) {
        left = limit.map { min($0, Stopwatch.longest) }
    }

    /// Starts it unless it is running.
    mutating func start(at now: Stopwatch.Instant) {
        guard end == nil, let left else { return }
        end = now.advanced(by: left)
    }

    /// Pauses it.
    mutating func pause(at now: Stopwatch.Instant) {
        guard let end else { return }
        (left, self.end) = (now.duration(to: end), nil)
    }

    /// Returns the remaining time, which can be negative; `nil` without a limit.
    func left(at now: Stopwatch.Instant) -> Duration? {
        end.map { now.duration(to: $0) } ?? left
    }
}
