import HTTPTypes
import Testing

@testable import HTTPTransport

struct RedirectRuleTests {
    private func next(
        _ status: Int, _ location: String?, from url: String = "http://example.org/a",
        method: HTTPRequest.Method = .get, redirectCount: Int = 0
    ) throws -> TransportRequest? {
        var head = HTTPResponse(status: HTTPResponse.Status(code: status))
        head.headerFields[.location] = location
        let request = TransportRequest(
            url: try HTTPURL(url), method: method,
            headerFields: [.authorization: "Bearer x", .cookie: "a=b", .accept: "image/*"], credential: .bearer("y"),
            redirectLimit: 3)
        return try RedirectRule.next(after: head, of: request, redirectCount: redirectCount)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func followsLocation(status: Int) throws {
        #expect(try next(status, "/b")?.url.string == "http://example.org/b")
    }

    @Test(arguments: [200, 201, 300, 304, 305, 306, 404])
    func otherStatusesAreNoRedirects(status: Int) throws {
        #expect(try next(status, "/b") == nil)
    }

    @Test func withoutLocationThereIsNothingToFollow() throws {
        #expect(try next(302, nil) == nil)
    }

    @Test func seeOtherTurnsAllButHeadIntoGet() throws {
        #expect(try next(303, "/b", method: .head)?.method == .head)
        #expect(try next(303, "/b", method: .delete)?.method == .get)
        #expect(try next(307, "/b", method: .delete)?.method == .delete)
    }

    @Test func credentialsStayWithinTheOrigin() throws {
        #expect(try next(302, "/b")?.headerFields[.authorization] == "Bearer x")
        #expect(try next(302, "/b")?.credential == .bearer("y"))
        #expect(try next(302, "http://EXAMPLE.org:80/b")?.headerFields[.cookie] == "a=b")
        for other in ["https://example.org/", "http://example.org:81/", "http://www.example.org/"] {
            let request = try next(302, other)
            #expect(request?.headerFields[.authorization] == nil)
            #expect(request?.headerFields[.cookie] == nil)
            #expect(request?.credential == nil)
            #expect(request?.headerFields[.accept] == "image/*")
        }
    }

    @Test(arguments: [
        "ftp://u:secret@example.org/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://a b/",
    ])
    func refusesOtherSchemes(location: String) {
        let error = #expect(throws: TransportError.self) { try next(302, location) }
        #expect(error?.reason == .redirectRefused)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func countsRedirects() throws {
        #expect(try next(302, "/b", redirectCount: 2) != nil)
        let error = #expect(throws: TransportError.self) { try next(302, "/b", redirectCount: 3) }
        #expect(error?.reason == .tooManyRedirects(limit: 3))
    }
}
