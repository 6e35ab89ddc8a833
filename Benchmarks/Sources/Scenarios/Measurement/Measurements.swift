/// The results of one run of one case.
struct Measurements: Sendable, Hashable {
    private(set) var values: [Metric: Double] = [:]

    subscript(metric: Metric) -> Double? {
        get { values[metric] }
        // JSON supports neither infinity nor NaN.
        set { values[metric] = newValue.flatMap { $0.isFinite ? $0 : nil } }
    }

    /// Returns the union of these measurements and `others`, which take precedence.
    func merging(_ others: Measurements) -> Measurements {
        var merged = self
        merged.values.merge(others.values) { $1 }
        return merged
    }
}

extension Measurements: Codable {
    init(from decoder: any Decoder) throws {
        let values = try [String: Double](from: decoder)
        self.values = Dictionary(uniqueKeysWithValues: values.map { (Metric(rawValue: $0), $1) })
    }

    func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: values.map { ($0.rawValue, $1) }).encode(to: encoder)
    }
}

extension Measurements? {
    /// Returns the ratio of a quantity to the same quantity in `other`, or `nil` unless both were measured.
    func ratio(of metric: Metric, to other: Measurements?) -> Double? {
        guard let mine = self?[metric], let theirs = other?[metric] else { return nil }
        return mine / theirs
    }
}
