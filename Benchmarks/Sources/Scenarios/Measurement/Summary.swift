/// The middle and the extremes of a quantity over the repetitions.
struct Summary: Sendable, Hashable {
    let median: Double
    let least: Double
    let most: Double

    /// Nil of no values.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        least = first
        most = last
    }
}
