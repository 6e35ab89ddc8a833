/// The percentiles of a set of durations.
struct Percentiles: Sendable {
    private let sorted: [UInt64]

    /// Creates the percentiles of durations in nanoseconds.
    init(nanoseconds: [UInt64]) {
        sorted = nanoseconds.sorted()
    }

    /// Returns the percentile by nearest rank, in milliseconds, or `nil` if there are no durations.
    func milliseconds(_ percent: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let rank = (percent / 100 * Double(sorted.count)).rounded(.up)
        let index = min(max(Int(rank) - 1, 0), sorted.count - 1)
        return Double(sorted[index]) / 1_000_000
    }

    /// The mean in milliseconds, or `nil` if there are no durations.
    var meanMilliseconds: Double? {
        sorted.isEmpty ? nil : sorted.reduce(0) { $0 + Double($1) } / Double(sorted.count) / 1_000_000
    }
}
