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
            maximumRedirects: 3)
        return try RedirectRule.next(after: head, of: request, redirectCount: redirectCount)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectRuleFollowsLocation(status: Int) throws {
        #expect(try next(status, "/b")?.url.string == "http://example.org/b")
    }

    @Test func bytesOfLocationThatAreNotUTF8ArePercentEncoded() throws {
        var head = HTTPResponse(status: .found)
        head.headerFields[fields: .location] = [HTTPField(name: .location, value: Array("/caf".utf8) + [0xE9])]
        let request = TransportRequest(url: try HTTPURL("http://example.org/a"))
        let next = try RedirectRule.next(after: head, of: request, redirectCount: 0)
        #expect(next?.url.string == "http://example.org/caf%E9")
    }

    @Test(arguments: [200, 201, 300, 304, 305, 306, 404])
    func otherStatusesAreNotRedirects(status: Int) throws {
        #expect(try next(status, "/b") == nil)
    }

    @Test func redirectWithoutLocationIsNotFollowed() throws {
        #expect(try next(302, nil) == nil)
    }

    @Test func status303TurnsAllMethodsExceptHEADIntoGET() throws {
        #expect(try next(303, "/b", method: .head)?.method == .head)
        #expect(try next(303, "/b", method: .delete)?.method == .get)
        #expect(try next(307, "/b", method: .delete)?.method == .delete)
    }

    @Test func redirectKeepsCredentialsWithinTheOrigin() throws {
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

    private static func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    private func redirected(
        _ request: TransportRequest, to location: String, addsCredentials: Bool = false
    ) throws -> TransportRequest {
        let head = HTTPResponse(status: .found, headerFields: [.location: location])
        return try #require(
            try RedirectRule.next(after: head, of: request, redirectCount: 0, addsCredentials: addsCredentials))
    }

    @Test(arguments: ["https://example.org/", "http://example.org:81/", "http://other.example/"])
    func redirectSendsOnlyNonsecretHeaderFieldsToOtherOrigins(location: String) throws {
        var request = TransportRequest(url: try HTTPURL("http://example.org/"))
        let secrets = try [
            "X-Api-Key", "Proxy-Authorization", "Authorization", "Cookie", "Referer", "X-Amz-Security-Token",
        ]
        .map(Self.name)
        let others = try [
            "Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "User-Agent", "Range", "If-Range",
            "If-Match",
            "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        ].map(Self.name)
        for name in secrets + others { request.headerFields[name] = "x" }
        #expect(try redirected(request, to: "/b").headerFields == request.headerFields)
        #expect(try redirected(request, to: location).headerFields.map(\.name) == others)
    }

    @Test func applicationSelectsFieldsSentToOtherOriginsOnRedirect() throws {
        let version = try Self.name("X-Version")
        var request = TransportRequest(url: try HTTPURL("http://example.org/"))
        request.headerFields = [version: "1", .accept: "image/*", .authorization: "Bearer x"]
        request.redirectPolicy.crossOriginHeaderFields = [version, .authorization]
        #expect(try redirected(request, to: "http://other.example/").headerFields == [version: "1"])
    }

    @Test func cacheKeyOfTheFirstURLDoesNotIdentifyTheTarget() throws {
        let request = TransportRequest(url: try HTTPURL("http://example.org/"), cacheKey: "a")
        #expect(try redirected(request, to: "/b").cacheKey == nil)
    }

    @Test func credentialsInALocationAreDropped() throws {
        let request = TransportRequest(url: try HTTPURL("http://me:mine@example.org/"))
        let same = try redirected(request, to: "http://you:yours@example.org/b").url
        #expect(same.user == "me" && same.password == "mine")
        let other = try redirected(request, to: "http://you:yours@other.example/").url
        #expect(other.user == nil && other.password == nil && other.string == "http://other.example/")
        let anonymous = TransportRequest(url: try HTTPURL("http://example.org/"))
        #expect(try redirected(anonymous, to: "http://you:yours@example.org/b").url.user == nil)
    }

    private static let credentials: [@Sendable (inout TransportRequest) throws -> Void] = [
        { $0.headerFields[.authorization] = "Bearer x" }, { $0.headerFields[.cookie] = "a=b" },
        { $0.headerFields[.proxyAuthorization] = "Basic x" }, { $0.credential = .bearer("x") },
        { $0.handlesCookies = true }, { $0.url = try HTTPURL("https://me@example.org/") },
    ]

    @Test(arguments: credentials.indices)
    func withCredentialsNoRedirectLeadsFromHTTPSToHTTP(index: Int) throws {
        var request = TransportRequest(url: try HTTPURL("https://example.org/"))
        #expect(try redirected(request, to: "http://example.org/a").url.scheme == "http")
        try Self.credentials[index](&request)
        let error = #expect(throws: TransportError.self) { try redirected(request, to: "http://a:b@example.org/a") }
        #expect(error?.reason == .insecureRedirect)
        #expect(error?.isRetryable == false)
        #expect(
            error?.description == "redirected from https to http, which is refused (http://example.org/a)")
        // An intermediate redirect to another origin, which gets no credentials, does not change this.
        let next = try redirected(request, to: "https://other.example/")
        #expect(throws: TransportError.self) { try redirected(next, to: "http://other.example/") }
        request.redirectPolicy.insecureRedirects = .followed
        #expect(try redirected(request, to: "http://example.org/a").url.scheme == "http")
    }

    @Test func transportCredentialsAlsoPreventRedirectToHTTP() throws {
        let request = TransportRequest(url: try HTTPURL("https://example.org/"))
        let error = #expect(throws: TransportError.self) {
            try redirected(request, to: "http://example.org/", addsCredentials: true)
        }
        #expect(error?.reason == .insecureRedirect)
    }

    @Test func redirectsFromHTTPSToHTTPMayBeRefused() throws {
        var request = TransportRequest(url: try HTTPURL("https://example.org/"))
        request.redirectPolicy.insecureRedirects = .refused
        let error = #expect(throws: TransportError.self) { try redirected(request, to: "http://example.org/") }
        #expect(error?.reason == .insecureRedirect)
        #expect(try redirected(request, to: "https://other.example/").url.scheme == "https")
        request.url = try HTTPURL("http://example.org/")
        #expect(try redirected(request, to: "http://other.example/").url.scheme == "http")
    }

    @Test func tenRedirectsAreFollowedByDefault() throws {
        let request = TransportRequest(url: try HTTPURL("http://example.org/"))
        #expect(request.maximumRedirects == 10)
        let head = HTTPResponse(status: .found, headerFields: [.location: "/b"])
        #expect(try RedirectRule.next(after: head, of: request, redirectCount: 9) != nil)
        #expect(throws: TransportError.self) { try RedirectRule.next(after: head, of: request, redirectCount: 10) }
    }

    @Test(arguments: [
        "ftp://u:secret@example.org/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://a b/",
    ])
    func redirectRuleRejectsOtherSchemes(location: String) {
        let error = #expect(throws: TransportError.self) { try next(302, location) }
        #expect(error?.reason == .unsupportedRedirect)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func redirectRuleLimitsTheNumberOfRedirects() throws {
        #expect(try next(302, "/b", redirectCount: 2) != nil)
        let error = #expect(throws: TransportError.self) { try next(302, "/b", redirectCount: 3) }
        #expect(error?.reason == .tooManyRedirects(limit: 3))
    }

    @Test func errorsContainNoQueriesOfTargets() throws {
        let unsupported = #expect(throws: TransportError.self) { try next(302, "ftp://example.org/a?signature=x#y") }
        #expect(unsupported?.detail == "ftp://example.org/a")
        var request = TransportRequest(url: try HTTPURL("https://example.org/"))
        request.redirectPolicy.insecureRedirects = .refused
        let insecure = #expect(throws: TransportError.self) {
            try redirected(request, to: "http://example.org/a?signature=x")
        }
        #expect(insecure?.detail == "http://example.org/a")
    }
}
