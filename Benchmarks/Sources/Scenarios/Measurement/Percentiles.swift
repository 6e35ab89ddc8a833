/// A set of durations, asked how long the slowest of a share of them took.
struct Percentiles: Sendable {
    private let sorted: [UInt64]

    /// Of durations in nanoseconds.
    init(nanoseconds: [UInt64]) {
        sorted = nanoseconds.sorted()
    }

    /// The smallest duration that `percent` of all do not exceed (nearest rank), in milliseconds; nil of none.
    func milliseconds(_ percent: Double) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let rank = (percent / 100 * Double(sorted.count)).rounded(.up)
        let index = min(max(Int(rank) - 1, 0), sorted.count - 1)
        return Double(sorted[index]) / 1_000_000
    }

    /// The mean, in milliseconds; nil of none.
    var meanMilliseconds: Double? {
        sorted.isEmpty ? nil : sorted.reduce(0) { $0 + Double($1) } / Double(sorted.count) / 1_000_000
    }
}
