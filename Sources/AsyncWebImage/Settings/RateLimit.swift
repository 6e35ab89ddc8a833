/// A limit on the rate at which downloads from one host start.
public struct RateLimit: Sendable, Hashable {
    /// The maximum average number of starts per second; at least 1/3600, which is one per hour.
    public let requestsPerSecond: Double
    /// The maximum number of immediate starts after a pause; 1 to 1,000,000.
    public let burst: Int

    /// Creates a limit; values out of range are clamped.
    public init(requestsPerSecond: Double, burst: Int = 1) {
        let least = 1.0 / 3_600
        self.requestsPerSecond = requestsPerSecond > least ? requestsPerSecond : least
        self.burst = min(max(burst, 1), 1_000_000)
    }

    /// The minimum average time between two starts.
    var interval: Duration { .seconds(1 / requestsPerSecond) }
}
