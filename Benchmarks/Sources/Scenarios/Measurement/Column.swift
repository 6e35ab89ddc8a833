/// A column of a table: a quantity and its format.
struct Column: Sendable {
    /// The statistic of the repetitions that a column shows.
    enum Part: Sendable {
        case median
        /// The minimum and the maximum.
        case spread
    }

    let heading: String
    let metric: Metric
    let part: Part
    private let format: @Sendable (Double) -> String

    /// Creates a column that shows the median, divided by `unit`, with `decimals` decimal places.
    init(_ heading: String, _ metric: Metric, per unit: Double = 1, decimals: Int = 0) {
        self.init(heading, metric, .median, per: unit, decimals: decimals)
    }

    /// Returns a column that shows the minimum and the maximum, divided by `unit`, with `decimals` decimal places.
    static func spread(_ heading: String, _ metric: Metric, per unit: Double = 1, decimals: Int = 0) -> Column {
        Column(heading, metric, .spread, per: unit, decimals: decimals)
    }

    private init(_ heading: String, _ metric: Metric, _ part: Part, per unit: Double, decimals: Int) {
        self.heading = heading
        self.metric = metric
        self.part = part
        format = { DecimalText.text($0 / unit, decimals: decimals) }
    }

    /// Returns the text of a row in this column, or a dash if the quantity was not measured.
    func text(of row: Row) -> String {
        guard let summary = row[metric] else { return "-" }
        switch part {
        case .median: return format(summary.median)
        case .spread: return "\(format(summary.least))-\(format(summary.most))"
        }
    }
}
