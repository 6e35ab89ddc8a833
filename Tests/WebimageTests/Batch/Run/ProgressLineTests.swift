import AsyncWebImage
import Testing

@testable import webimage

struct ProgressLineTests {
    /// Returns statistics of successes, and of failures by their codes.
    private func statistics(successes: Int, _ failures: [(ImageError.Code, Int)] = []) -> BatchStatistics {
        var statistics = BatchStatistics()
        for code in [nil] + failures.map({ Optional($0.0) }) {
            var record = BatchRecord(entry: ListEntry(index: 0, line: RawLine()))
            record.failure = code.map { ImageFailure($0, "") }
            let count = code == nil ? successes : failures.first { $0.0 == code }?.1 ?? 0
            for _ in 0..<count { statistics.add(record) }
        }
        return statistics
    }

    @Test func progressIsTheAnsweredPartOfTheList() {
        // All lines have been read.
        var activity = BatchProgress.Activity(open: 750, read: 1_000, readPart: 1)
        let line = ProgressLine(statistics: statistics(successes: 250), activity: activity, seconds: 10)
        #expect(line.text(columns: 79) == "━━╌╌╌╌╌╌╌╌ 250 done, 25/s, 0 B/s, 30 s left")

        activity.readPart = 0.5
        let half = ProgressLine(statistics: statistics(successes: 250), activity: activity, seconds: 10)
        #expect(half.text(columns: 79) == "━╌╌╌╌╌╌╌╌╌ 250 done, 25/s, 0 B/s, 1 min left")
    }

    @Test func linesOfCompleteShardsTakeNoTime() {
        let activity = BatchProgress.Activity(open: 90, read: 5_100, complete: 5_000, readPart: 0.51)
        let line = ProgressLine(statistics: statistics(successes: 10), activity: activity, seconds: 1)
        // 90 are open, and 4,900 are still unread.
        #expect(line.text(columns: 79).hasSuffix("8 min left"))
        #expect(line.text(columns: 79).hasPrefix("━━━━━╌"))
    }

    @Test func linesOfOtherProcessesTakeNoTime() {
        let activity = BatchProgress.Activity(open: 0, read: 400, readPart: 0.5)
        let line = ProgressLine(statistics: statistics(successes: 100), activity: activity, seconds: 10)
        #expect(line.text(columns: 79).hasSuffix("10 s left"))
    }

    @Test func failuresAreShownAsFarAsTheyFit() {
        let statistics = statistics(successes: 100, [(.tls, 7), (.connectionFailed, 30), (.badLine, 2)])
        let activity = BatchProgress.Activity(open: 0, read: 139, readPart: 1)
        let line = ProgressLine(statistics: statistics, activity: activity, seconds: 1)
        let start = "━━━━━━━━━━ 139 done, 139/s, 0 B/s, 0 s left"
        #expect(line.text(columns: 200) == start + ", 30 connection_failed, 7 tls, 2 bad_line")
        #expect(line.text(columns: 74) == start + ", 30 connection_failed, 7 tls")
        #expect(line.text(columns: 50) == start)
        #expect(line.summary(columns: 50) == "139 done, 139/s, 0 B/s, 30 connection_failed")
    }

    @Test func listsOfUnknownSizeHaveNoBar() {
        let activity = BatchProgress.Activity(transfers: 8, read: 100)
        let line = ProgressLine(statistics: statistics(successes: 50), activity: activity, seconds: 10)
        #expect(line.text(columns: 79) == "50 done, 5/s, 0 B/s, 8 running")
    }
}
