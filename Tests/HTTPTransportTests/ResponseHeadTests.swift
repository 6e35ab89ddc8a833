import HTTPSemantics
import HTTPTypes
import Testing

@testable import HTTPTransport

/// The freshness of a response that has just been received.
struct ResponseHeadTests {
    @Test func timeUntilTheHeadCountsAsAge() throws {
        let url = try HTTPURL("http://example.com/a")
        let raw = RawResponseHead(status: .ok)
        let fast = ResponseHead(raw, url: url, redirectCount: 0)
        let slow = ResponseHead(raw, url: url, redirectCount: 0, delay: .milliseconds(100_900))
        // The test can take some seconds.
        #expect(fast.freshness().remaining > .seconds(-50))
        #expect(slow.freshness().remaining <= .seconds(-100))
        #expect(slow.withoutLength.freshness().remaining <= .seconds(-100))
    }

    @Test func clientsRevalidateTheResponseToARedirectedRequest() throws {
        let url = try HTTPURL("http://example.com/a")
        let response = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=600"])
        #expect(ResponseHead(response: response, url: url, redirectCount: 1).freshness().cacheControl() == "no-cache")
    }
}
