import Testing

@testable import webimage

struct CommittedRecordTests {
    private func record(_ line: String) -> CommittedRecord? {
        CommittedRecord(Array(line.utf8), keys: SampleKeys(samplesPerShard: 10), shard: 2)
    }

    @Test func recordTellsWhetherItsLineIsAnsweredAgain() throws {
        let failure = try #require(
            record(
                #"{"x":{"retryable":false},"key":"000027","status":"failed_to_download","error_code":"http_503","#
                    + #""retryable":true,"original_bytes":5}"#))
        #expect(failure.row == 7 && failure.code == "http_503" && failure.isRetryable && !failure.concernsImage)
        #expect(failure.originalBytes == 5)
        let success = try #require(record(#"{"key":"000020","status":"success","error_code":null,"retryable":null}"#))
        #expect(success.row == 0 && success.code == nil && !success.isRetryable && success.originalBytes == nil)
    }

    @Test(arguments: [
        "", "{}", #"{"key":"000030","status":"success"}"#, #"{"key":"000020"}"#, #"{"key":2,"status":"x"}"#,
    ])
    func lineThatIsNoRecordOfTheShardIsRejected(line: String) {
        #expect(record(line) == nil)
    }

    /// A damaged file is recognized only after its last line.
    @Test func numberOfBytesOfADamagedRecordCanBeAny() throws {
        var statistics = BatchStatistics()
        let line = #"{"key":"000020","status":"success","error_code":null,"original_bytes":9223372036854775807}"#
        for _ in 0..<3 { statistics.add(try #require(record(line))) }
        #expect(statistics.count == 3)
    }

    @Test func numbersOfCommittedRecordsEqualThoseOfTheRun() throws {
        var statistics = BatchStatistics()
        for (status, code, isRetryable) in [
            ("failed_to_download", "http_503", true), ("failed_to_resize", "corrupt", false), ("success", "", false),
        ] {
            let code = code.isEmpty ? "null" : "\"\(code)\""
            let line = #"{"key":"000020","status":"\#(status)","error_code":\#(code),"retryable":\#(isRetryable)}"#
            statistics.add(try #require(record(line)))
        }
        #expect(statistics.count == 3 && statistics.successes == 1 && statistics.retryable == 1)
        #expect(statistics.failedToDownload == 1 && statistics.failedToResize == 1)
        #expect(statistics.byCode == ["success": 1, "http_503": 1, "corrupt": 1])
    }
}
