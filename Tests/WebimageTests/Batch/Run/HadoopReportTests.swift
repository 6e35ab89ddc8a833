import AsyncWebImage
import Testing

@testable import webimage

struct HadoopReportTests {
    private func record(_ code: ImageError.Code? = nil) -> BatchRecord {
        var record = BatchRecord(entry: ListEntry(index: 0, line: RawLine()))
        record.failure = code.map { ImageFailure($0, "") }
        return record
    }

    @Test func hadoopCountersAreTheChangesSinceTheLastReport() {
        var report = HadoopReport()
        var statistics = BatchStatistics()
        for code in [nil, nil, ImageError.Code.tls] { statistics.add(record(code)) }
        #expect(
            report.lines(statistics, seconds: 1) == """
                reporter:status:3 done, 3/s, 0 B/s, 1 tls
                reporter:counter:webimage,success,2
                reporter:counter:webimage,tls,1

                """)
        statistics.add(record())
        #expect(
            report.lines(statistics, seconds: 2) == """
                reporter:status:4 done, 2/s, 0 B/s, 1 tls
                reporter:counter:webimage,success,1

                """)
        #expect(report.lines(statistics, seconds: 4) == "reporter:status:4 done, 1/s, 0 B/s, 1 tls\n")
    }
}
