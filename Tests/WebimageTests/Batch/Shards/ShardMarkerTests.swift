import Testing

@testable import webimage

struct ShardMarkerTests {
    private static let counts =
        #""count":5,"successes":2,"failed_to_download":2,"failed_to_resize":1,"#
        + #""status_dict":{"success":2,"http_404":2,"corrupt":1}"#

    /// Returns the marker of a shard with 5 lines.
    private func marker(_ members: String) throws -> ShardMarker {
        let text = #"{"input":{"first":0,"count":5,"sha256":"a"},"options_sha256":"b",\#(members)}"#
        return try #require(ShardMarker(Array(text.utf8)))
    }

    @Test func markerNamesTheRowsOfRetryableFailures() throws {
        #expect(try marker(#""retryable":2,"retryable_rows":[ 1,\#n 4 ]"#).retryableRows == [1, 4])
        #expect(try marker(#""retryable":0,"retryable_rows":[]"#).retryableRows == [])
    }

    @Test(arguments: [
        #""retryable":2"#, #""retryable_rows":[1]"#, #""retryable":2,"retryable_rows":[1]"#,
        #""retryable":2,"retryable_rows":[1,-4]"#, #""retryable":2,"retryable_rows":[1,"4"]"#,
        #""retryable":1,"retryable_rows":4"#, #""retryable":1,"retryable_rows":[99999999999999999999]"#,
    ])
    func rowsThatContradictTheMarkerAreUnknown(members: String) throws {
        #expect(try marker(members).retryableRows == nil)
    }

    @Test func writtenRowsAreReadBack() throws {
        var written = ShardMarker(
            input: ShardMarker.Input(first: 0, count: 5, sha256: "a"), optionsDigest: "b")
        written.retryableRows = [0, 3]
        var object = JSONObject()
        object.add("retryable", 2)
        written.add(to: &object)
        #expect(try #require(ShardMarker(object.bytes)).retryableRows == [0, 3])
    }

    @Test func markerContainsTheNumbersOfItsShard() throws {
        let statistics = try #require(try marker(Self.counts + #","retryable":1"#).statistics)
        #expect(statistics.count == 5 && statistics.successes == 2 && statistics.failures == 3)
        #expect(statistics.failedToDownload == 2 && statistics.failedToResize == 1 && statistics.retryable == 1)
        #expect(statistics.byCode == ["success": 2, "http_404": 2, "corrupt": 1])
    }

    @Test(arguments: [
        (#""count":5"#, #""count":4"#), (#""successes":2"#, #""successes":3"#), (#""successes":2,"#, ""),
        (#""failed_to_download":2"#, #""failed_to_download":-2"#),
        (#""failed_to_resize":1"#, #""failed_to_resize":9223372036854775807"#),
        (#""http_404":2"#, #""http_404":3"#), (#""http_404":2"#, #""http_404":9223372036854775807"#),
        (#""http_404":2"#, #""http_404":"2""#), (#"{"success":2,"http_404":2,"corrupt":1}"#, "5"),
    ])
    func contradictoryNumbersOfAMarkerAreUnknown(part: String, other: String) throws {
        let changed = Self.counts.replacing(part, with: other)
        #expect(changed != Self.counts)
        #expect(try marker(changed).statistics == nil)
    }

    @Test func numbersOfAnotherShardAreUnknown() throws {
        let counts = #""count":1,"successes":1,"failed_to_download":0,"failed_to_resize":0,"status_dict":{"success":1}"#
        #expect(try marker(counts).statistics == nil)
    }
}
