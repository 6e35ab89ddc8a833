/// The lines about the progress of a run that Hadoop Streaming reads from standard error: a status and counters.
struct HadoopReport: Sendable {
    private static let group = "webimage"
    /// The values of the counters that have been told; Hadoop adds up differences.
    private var told: [String: Int] = [:]

    /// Returns the status, and the changes of the counters since the last call.
    mutating func lines(_ statistics: BatchStatistics, seconds: Double) -> String {
        let line = ProgressLine(statistics: statistics, seconds: seconds)
        var text = "reporter:status:\(line.summary(columns: 200))\n"
        for (code, count) in statistics.byCode.sorted(by: { $0.key < $1.key }) {
            let change = count - told[code, default: 0]
            if change > 0 { text += "reporter:counter:\(Self.group),\(code),\(change)\n" }
        }
        told = statistics.byCode
        return text
    }
}
