/// A token bucket: the starts that a host has left, initially `burst`, restored one per ``RateLimit/interval``.
///
/// A pure value that receives the time as a parameter, relative to any fixed moment and never decreasing.
struct TokenBucket {
    /// The time when all starts will be restored.
    private var full = Duration.zero

    /// Returns the time when the next start is allowed.
    func nextStart(_ limit: RateLimit) -> Duration { full - limit.interval * (limit.burst - 1) }

    func isFull(at time: Duration) -> Bool { full <= time }

    /// Records a start.
    mutating func take(at time: Duration, _ limit: RateLimit) {
        full = max(full, time) + limit.interval
    }

    /// Reverses a start that has been recorded.
    mutating func giveBack(_ limit: RateLimit) { full -= limit.interval }
}
