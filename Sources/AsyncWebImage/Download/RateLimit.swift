/// How often downloads from one host may start.
public struct RateLimit: Sendable, Hashable {
    /// Starts in a second, in the long run; one in an hour at least.
    public let requestsPerSecond: Double
    /// How many may start at once after a pause; 1 to 1,000,000.
    public let burst: Int

    /// So many starts in a second, and at most `burst` at once; what is out of range becomes what is nearest to it.
    public init(requestsPerSecond: Double, burst: Int = 1) {
        let least = 1.0 / 3_600
        self.requestsPerSecond = requestsPerSecond > least ? requestsPerSecond : least
        self.burst = min(max(burst, 1), 1_000_000)
    }

    /// Between two starts, in the long run.
    var interval: Duration { .seconds(1 / requestsPerSecond) }
}

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
