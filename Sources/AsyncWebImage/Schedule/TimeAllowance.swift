/// The time that one download may take, over all of its attempts.
///
/// A pure value that is told the time. It runs from the first look-up or attempt on, through the delays between attempts and
/// their turns in line; only the wait for the first slot does not count.
struct TimeAllowance {
    /// What is left while it does not run; nil is no limit.
    private var left: Duration?
    /// When it is used up; nil while it does not run, and without a limit.
    private(set) var end: Stopwatch.Instant?

    init(_ limit: Duration?) {
        left = limit.map { min($0, Stopwatch.longest) }
    }

    /// Starts it, unless it runs.
    mutating func start(at now: Stopwatch.Instant) {
        guard end == nil, let left else { return }
        end = now.advanced(by: left)
    }

    /// Stops it until the next start.
    mutating func pause(at now: Stopwatch.Instant) {
        guard let end else { return }
        (left, self.end) = (now.duration(to: end), nil)
    }

    /// Returns what is left of it, which may be less than nothing; nil without a limit.
    func left(at now: Stopwatch.Instant) -> Duration? {
        end.map { now.duration(to: $0) } ?? left
    }
}
