import HTTPTypes
import Testing

@testable import HTTPSemantics

/// RFC 9110, section 14.4.
struct ContentRangeTests {
    @Test func contentRangeIsParsed() throws {
        let range = try #require(ContentRange("bytes 42-1233/1234"))
        #expect(range.first == 42)
        #expect(range.last == 1_233)
        #expect(range.total == 1_234)
    }

    @Test func contentRangeMayHaveUnknownTotal() throws {
        let range = try #require(ContentRange("Bytes 0-0/*"))
        #expect(range.total == nil)
    }

    @Test(arguments: [
        "", "bytes", "bytes */1234", "items 0-1/2", "bytes 2-1/5", "bytes 0-5/5", "bytes -1-5/9", "bytes +1-5/9",
        "bytes 0-4/5/6", "bytes 0-4", "bytes 0-99999999999999999999/5",
        "bytes 0-9223372036854775807/*", "bytes 0 - 4/5", "bytes=0-4/5",
    ])
    func invalidContentRangesAreRejected(_ text: String) {
        #expect(ContentRange(text) == nil)
    }
}
