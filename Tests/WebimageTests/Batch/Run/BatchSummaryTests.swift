import AsyncWebImage
import Testing

@testable import webimage

struct BatchSummaryTests {
    private func statistics(_ codes: [ImageError.Code?]) -> BatchStatistics {
        var statistics = BatchStatistics()
        for code in codes {
            var record = BatchRecord(entry: ListEntry(index: 0, line: RawLine()))
            record.failure = code.map { ImageFailure($0, "") }
            statistics.add(record)
        }
        return statistics
    }

    @Test func summaryOfAStreamHasTheCountsOfTheRun() {
        let summary = BatchSummary(answered: statistics([nil, .tls]))
        #expect(
            summary.object.text == #"{"count":2,"successes":1,"failed_to_download":1,"failed_to_resize":0,"#
                + #""status_dict":{"success":1,"tls":1},"retryable":0,"#
                + #""list":{"lines":0,"header":0,"blank":0,"comments":0,"continued":0}}"#)
        #expect(summary.hasFailures)
        #expect(!BatchSummary(answered: statistics([nil])).hasFailures)
    }

    @Test func summaryOfAFolderCoversCompleteShards() throws {
        var earlier = EarlierResults()
        earlier.add(statistics([nil, .tls, .corrupt]))
        earlier.skipped = 4
        let summary = BatchSummary(
            answered: statistics([nil]), earlier: earlier, incomplete: 2,
            lines: ListCounts(lines: 12, header: 1, blank: 1))
        #expect(summary.hasFailures)
        #expect(summary.unknownResults == nil && summary.unknownFailures == nil)
        #expect(
            summary.object.text == #"{"count":4,"successes":2,"failed_to_download":1,"failed_to_resize":1,"#
                + #""status_dict":{"corrupt":1,"success":2,"tls":1},"retryable":0,"#
                + #""list":{"lines":12,"header":1,"blank":1,"comments":0,"continued":0},"#
                + #""earlier":{"count":3,"successes":1,"failed_to_download":1,"failed_to_resize":1,"#
                + #""status_dict":{"corrupt":1,"success":1,"tls":1},"retryable":0},"unknown_count":0,"#
                + #""skipped_count":4,"incomplete_count":2}"#)
    }

    @Test func shardWithoutCountsIsNotASuccess() {
        var earlier = EarlierResults()
        let input = ShardMarker.Input(first: 0, count: 7, sha256: "")
        earlier.add(ShardMarker(input: input, optionsDigest: ""))
        let summary = BatchSummary(answered: statistics([nil]), earlier: earlier)
        #expect(summary.total == statistics([nil]))
        #expect(summary.hasFailures)
        #expect(summary.unknownResults?.contains("the results of 7 lines") == true)
    }
}
