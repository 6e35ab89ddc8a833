/// A measured quantity, whose raw value is its name in JSON, including its unit.
struct Metric: RawRepresentable, Hashable, Sendable {
    let rawValue: String

    static let requestsPerSecond = Metric(rawValue: "requests_per_second")
    static let cpuPerRequest = Metric(rawValue: "cpu_us_per_request")
    static let p50 = Metric(rawValue: "p50_ms")
    static let p99 = Metric(rawValue: "p99_ms")
    static let peakMemory = Metric(rawValue: "peak_rss_bytes")
    static let ratioToLimit = Metric(rawValue: "ratio_to_limit")

    /// The metrics that every row contains in JSON, as null if they do not apply.
    static let common = [requestsPerSecond, cpuPerRequest, p50, p99, peakMemory, ratioToLimit]
}
