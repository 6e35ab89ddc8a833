/// The median, the minimum, and the maximum of a quantity over the repetitions.
struct Summary: Sendable, Hashable {
    let median: Double
    let least: Double
    let most: Double

    /// Creates a summary of `values`, or returns `nil` if there are none.
    init?(_ values: [Double]) {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        least = first
        most = last
    }
}
