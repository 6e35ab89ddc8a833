import WebimageConsole

/// The line that displays the progress of a run on a terminal.
struct ProgressLine: Sendable {
    private static let barWidth = 10

    var statistics: BatchStatistics
    var activity = BatchProgress.Activity()
    /// The time since the start of the run, in seconds.
    var seconds: Double

    /// Returns the line with a bar, the estimated time left, and the most frequent failures, as far as they fit.
    func text(columns: Int) -> String {
        guard let estimate else { return joined(rates + ["\(activity.transfers) running"], columns) }
        let filled = Int(estimate.done * Double(Self.barWidth))
        let bar = String(repeating: "━", count: filled) + String(repeating: "╌", count: Self.barWidth - filled)
        let left = estimate.seconds.map { ["\(Self.duration($0)) left"] } ?? []
        return bar + " " + joined(rates + left, columns - Self.barWidth - 1)
    }

    /// Returns the line that remains when the run has ended.
    func summary(columns: Int) -> String { joined(rates, columns) }

    private var rates: [String] {
        let rate = Int(Double(statistics.count) / seconds)
        let bytes = ByteCount(Int(Double(statistics.receivedBytes) / seconds))
        return ["\(statistics.count) done", "\(rate)/s", "\(bytes)/s"]
    }

    /// Returns `parts`, and those numbers of failures that fit.
    private func joined(_ parts: [String], _ columns: Int) -> String {
        let failures = statistics.byCode.filter { $0.key != "success" }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var text = parts.joined(separator: ", ")
        for (code, count) in failures {
            let longer = "\(text), \(count) \(code)"
            guard longer.count <= columns else { break }
            text = longer
        }
        return text
    }

    /// The fraction of the list that is done, and the time left in seconds; `nil` if the size of the list is unknown.
    ///
    /// Lines that other processes answer, or that an earlier run has answered, take no time.
    private var estimate: (done: Double, seconds: Int?)? {
        guard let part = activity.readPart, part > 0, activity.read > 0 else { return nil }
        let unread = Double(activity.read) * (1 - part) / part
        let done = 1 - (Double(activity.open) + unread) / (Double(activity.read) + unread)
        guard statistics.count > 0 else { return (max(0, done), nil) }
        let own = Double(statistics.count + activity.open)
        let share = min(1, own / Double(max(1, activity.read - activity.complete)))
        let left = (Double(activity.open) + unread * share) / Double(statistics.count) * seconds
        return (max(0, done), Int(min(left, 1e9)))
    }

    private static func duration(_ seconds: Int) -> String {
        seconds >= 3_600
            ? "\(seconds / 3_600) h \(seconds / 60 % 60) min"
            : seconds >= 60 ? "\(seconds / 60) min" : "\(seconds) s"
    }
}
