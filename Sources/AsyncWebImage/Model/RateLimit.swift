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
