import AsyncWebImage
import Threading
import WebimageConsole

import Glibc

/// Displays the progress of a run on standard error: a line on a terminal, and lines of JSON or for Hadoop otherwise.
final class BatchProgress: Sendable {
    /// The current activity of a run, in addition to its statistics.
    struct Activity: Sendable {
        /// The number of transfers.
        var transfers = 0
        /// The number of transfers, of these, that wait for the addresses of their host.
        var lookups = 0
        /// The number of lines that wait for a transfer: for a slot, a rate, a lookup in the cache, or a retry.
        var waiting = 0
        /// The number of images, of those that lines wait for, whose host's rate limit does not allow a request now.
        var rateLimited = 0
        /// The number of images, of those that lines wait for, whose failed request will be repeated.
        var backingOff = 0
        /// The number of lines that are read and not written yet.
        var open = 0
        var openShards = 0
        /// The number of lines that have been read.
        var read = 0
        /// The number of lines read that belong to shards completed by an earlier run.
        var complete = 0
        /// The fraction of the list that has been read, from 0 to 1; `nil` if unknown.
        var readPart: Double?
    }

    /// The form of the progress.
    enum Form: String, Sendable, CaseIterable {
        /// Lines of JSON.
        case json
        /// Lines that Hadoop Streaming understands.
        case hadoop
    }

    private let state = Locked(BatchStatistics())
    private let start = ContinuousClock.now
    private let isLive: Bool
    private let interval: Duration
    /// The lines for Hadoop; `nil` for another form.
    private let hadoop: Locked<HadoopReport>?

    /// Creates a display that tells the state every `interval`; `nil` selects ten seconds.
    ///
    /// If neither `interval` nor `form` is set, a line is redrawn on a terminal.
    init(interval: Duration?, form: Form? = nil) {
        isLive = interval == nil && form == nil && Terminal.error.isInteractive
        hadoop = form == .hadoop ? Locked(HadoopReport()) : nil
        self.interval = isLive ? .milliseconds(200) : interval ?? .seconds(10)
    }

    var statistics: BatchStatistics { state.withLock { $0 } }

    /// Adds a record.
    func add(_ record: BatchRecord) { state.withLock { $0.add(record) } }

    /// Tells the state regularly until the task is canceled.
    func tellRegularly(_ activity: @Sendable () async -> Activity) async {
        guard interval > .zero else { return }
        while (try? await Task.sleep(for: interval)) != nil {
            let activity = await activity()
            // Nothing follows the line that `close` removes.
            guard !Task.isCancelled else { return }
            if isLive {
                let columns = Terminal.error.size.columns - 1
                let line = ProgressLine(statistics: statistics, activity: activity, seconds: seconds)
                Terminal.error.tell("\r\(line.text(columns: columns).fitting(columns))\u{1B}[K")
            } else if hadoop != nil {
                tellHadoop()
            } else {
                Terminal.error.tell(object(activity).text + "\n")
            }
        }
    }

    private func tellHadoop() {
        guard let hadoop else { return }
        let (statistics, seconds) = (statistics, seconds)
        Terminal.error.tell(hadoop.withLock { $0.lines(statistics, seconds: seconds) })
    }

    /// Removes the line on a terminal, and displays the sum there; completes the counters of Hadoop.
    ///
    /// The sum mentions the number of lines that an earlier run has answered.
    func close(earlier: Int) {
        if interval > .zero { tellHadoop() }
        guard isLive else { return }
        let line = ProgressLine(statistics: statistics, seconds: seconds)
        let done = line.summary(columns: Terminal.error.size.columns - 1)
        let text = earlier > 0 ? "\(earlier) done before, \(done)" : done
        Terminal.error.tell("\r\(text.fitting(Terminal.error.size.columns - 1))\u{1B}[K\n")
    }

    private var seconds: Double { max((ContinuousClock.now - start) / .seconds(1), 0.001) }

    private func object(_ activity: Activity) -> JSONObject {
        let statistics = statistics
        let seconds = seconds
        var object = JSONObject()
        object.add("t", rounded: seconds)
        object.add("done", statistics.count)
        object.add("success", statistics.successes)
        var failed = JSONObject()
        for (code, count) in statistics.byCode.sorted(by: { $0.key < $1.key }) where code != "success" {
            failed.add(code, count)
        }
        object.add("failed", raw: failed.bytes)
        object.add("per_s", rounded: Double(statistics.count) / seconds)
        object.add("bytes_per_s", rounded: Double(statistics.receivedBytes) / seconds)
        object.add("in_flight", activity.transfers)
        object.add("waiting_dns", activity.lookups)
        object.add("waiting", activity.waiting)
        object.add("waiting_rate", activity.rateLimited)
        object.add("waiting_retry", activity.backingOff)
        object.add("open", activity.open)
        object.add("shards_open", activity.openShards)
        object.add("rss", residentBytes())
        return object
    }
}

/// Returns the resident memory of the process in bytes; `nil` if it is unknown.
private func residentBytes() -> Int? {
    guard let file = try? ImageFile(path: "/proc/self/statm") else { return nil }
    let pages = (try? file.nextBlock()).map { String(decoding: $0, as: UTF8.self).split(separator: " ") }
    return pages.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
}
