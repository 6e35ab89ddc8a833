/// The starts that a host has left: `burst` of them at first, each coming back an ``RateLimit/interval`` after another.
///
/// A pure value, told the time; times are counted from any moment, and never go back.
struct TokenBucket {
    /// When all starts will have come back.
    private var full = Duration.zero

    /// When the next start is allowed.
    func nextStart(_ limit: RateLimit) -> Duration { full - limit.interval * (limit.burst - 1) }

    func isFull(at time: Duration) -> Bool { full <= time }

    /// One starts.
    mutating func take(at time: Duration, _ limit: RateLimit) {
        full = max(full, time) + limit.interval
    }
}
