/// A quantity as a table shows it.
struct Column: Sendable {
    /// The statistic of the repetitions to show.
    enum Part: Sendable {
        case median
        /// The least and the most.
        case spread
    }

    let heading: String
    let metric: Metric
    let part: Part
    private let format: @Sendable (Double) -> String

    /// The median under `heading`, divided by `unit`, with `decimals`.
    init(_ heading: String, _ metric: Metric, per unit: Double = 1, decimals: Int = 0) {
        self.init(heading, metric, .median, per: unit, decimals: decimals)
    }

    /// The least and the most of the repetitions, divided by `unit`, with `decimals`.
    static func spread(_ heading: String, _ metric: Metric, per unit: Double = 1, decimals: Int = 0) -> Column {
        Column(heading, metric, .spread, per: unit, decimals: decimals)
    }

    private init(_ heading: String, _ metric: Metric, _ part: Part, per unit: Double, decimals: Int) {
        self.heading = heading
        self.metric = metric
        self.part = part
        format = { DecimalText.text($0 / unit, decimals: decimals) }
    }

    /// A dash where nothing was measured.
    func text(of row: Row) -> String {
        guard let summary = row[metric] else { return "-" }
        switch part {
        case .median: return format(summary.median)
        case .spread: return "\(format(summary.least))-\(format(summary.most))"
        }
    }
}
