import HTTPTypes
import Testing

@testable import HTTPSemantics

/// RFC 9111, sections 3, 3.1, 3.2, 4.1 and 4.3.
@Suite struct StorabilityTests {
    private func allows(
        _ fields: HTTPFields = [:], status: Int = 200, method: HTTPRequest.Method = .get, sent: HTTPFields = [:],
        redirects: Int = 0, receivedAt: Int = 784_111_777
    ) -> Bool {
        Storability.allows(
            method, sent, HTTPResponse(status: .init(code: status), headerFields: fields), redirectCount: redirects,
            receivedAt: receivedAt)
    }

    @Test func completeResponsesToGETAreStorable() {
        #expect(allows())
        #expect(allows(status: 203))
        for status in [201, 204, 206, 301, 304, 404, 410, 500] { #expect(!allows(status: status)) }
        #expect(!allows(method: .head))
        #expect(!allows(redirects: 1))
    }

    @Test(arguments: [204, 299, 400, 404, 405, 410, 414, 499, 500, 501, 502, 503, 504, 599])
    func otherResponsesAreStorableWithExplicitFreshness(status: Int) {  // 3
        #expect(allows([.cacheControl: "max-age=60"], status: status))
        #expect(allows([.expires: "Fri, 31 Dec 9999 23:59:59 GMT"], status: status))
        #expect(!allows([.cacheControl: "max-age=0"], status: status))
        #expect(!allows([.cacheControl: "max-age=60, no-cache"], status: status))
        #expect(!allows([.cacheControl: "max-age=60, no-store"], status: status))
    }

    @Test(arguments: [204, 404, 405, 410, 414, 501])
    func freshnessOfSomeStatusesMayBeEstimated(status: Int) {  // 4.2.2
        let fields: HTTPFields = [
            .date: "Sun, 06 Nov 1994 08:49:37 GMT", .lastModified: "Sun, 06 Nov 1994 06:49:37 GMT",
        ]
        #expect(allows(fields, status: status))
        #expect(!allows(fields, status: 500))
        var explicit = fields
        explicit[.cacheControl] = "public"
        #expect(allows(explicit, status: 599))
    }

    /// RFC 9110, section 6.6.1.
    @Test func aResponseWithoutDateIsDatedByItsArrival() {
        let expires: HTTPFields = [.expires: "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(allows(expires, status: 500, receivedAt: 784_111_776))
        #expect(!allows(expires, status: 500, receivedAt: 784_111_777))
        #expect(allows([.lastModified: "Sun, 06 Nov 1994 06:49:37 GMT"], status: 404))
    }

    @Test func redirectsWithALocationAreStorable() {  // RFC 9110, section 15.4
        for status in [301, 302, 303, 307, 308] {
            #expect(allows([.cacheControl: "max-age=60", .location: "/b"], status: status))
            #expect(!allows([.location: "/b"], status: status))
        }
    }

    @Test(arguments: [206, 304, 401, 407, 412, 416, 428, 429, 431, 511, 300, 301, 302])
    func someStatusesAreNeverStored(status: Int) {
        #expect(!allows([.cacheControl: "max-age=60"], status: status))
    }

    @Test func mustUnderstandExcludesUnknownStatuses() {  // 5.2.2.3
        #expect(!allows([.cacheControl: "max-age=60, no-store, must-understand"], status: 599))
        #expect(!allows([.cacheControl: "max-age=60, must-understand"], status: 599))
        #expect(allows([.cacheControl: "max-age=60, no-store, must-understand"], status: 404))
    }

    @Test func noStoreResponsesAreNotStored() {
        #expect(!allows([.cacheControl: "no-store"]))  // 5.2.2.5
        #expect(allows([.cacheControl: "no-store, must-understand"]))  // 5.2.2.3
        #expect(!allows(sent: [.cacheControl: "no-store"]))  // 5.2.1.5
        #expect(!allows([.vary: "Accept, *"]))  // 4.1
    }

    @Test func privateAndAuthorizedResponsesAreStorable() {
        #expect(allows([.cacheControl: "private"]))  // 5.2.2.7
        #expect(allows([.cacheControl: "no-cache"]))  // 5.2.2.4: stored, but revalidated
        #expect(allows(sent: [.authorization: "Bearer a"]))  // 3.5 is for shared caches
    }

    @Test func fieldsOfTheConnectionAreNotKept() throws {  // 3.1
        let hop = try #require(HTTPField.Name("X-Hop"))
        let kept = Storability.fields(
            of: HTTPResponse(
                status: .ok,
                headerFields: [
                    .connection: "close, x-hop", hop: "1", .transferEncoding: "chunked", .eTag: "\"a\"",
                    .contentType: "image/png",
                ]))
        #expect(kept == [.eTag: "\"a\"", .contentType: "image/png"])
    }

    @Test func renewalKeepsFieldsThatDescribeTheBody() {  // 3.2, 4.3.4
        var stored: HTTPFields = [.eTag: "\"a\"", .cacheControl: "max-age=1", .contentLength: "5", .vary: "Accept"]
        stored.append(HTTPField(name: .cacheControl, value: "no-cache"))
        let renewed = Storability.fields(
            stored,
            updatedBy: HTTPResponse(
                status: .notModified,
                headerFields: [
                    .cacheControl: "max-age=9", .contentLength: "0", .contentType: "text/html", .date: "now",
                    .connection: "close",
                ]))
        #expect(renewed[values: .cacheControl] == ["max-age=9"])
        #expect(renewed[.contentLength] == "5" && renewed[.contentType] == nil && renewed[.connection] == nil)
        #expect(renewed[.eTag] == "\"a\"" && renewed[.vary] == "Accept" && renewed[.date] == "now")
    }

    @Test func renewalDropsTheDateAndAgeOfTheEarlierMessage() {  // 4.2.3, 5.1
        let stored: HTTPFields = [.eTag: "\"a\"", .age: "30", .date: "Sun, 06 Nov 1994 08:49:37 GMT"]
        func renewed(_ fields: HTTPFields) -> HTTPFields {
            Storability.fields(stored, updatedBy: HTTPResponse(status: .notModified, headerFields: fields))
        }
        #expect(renewed([:]) == [.eTag: "\"a\""])
        #expect(renewed([.age: "2"]) == [.eTag: "\"a\"", .age: "2"])
        let date = "Mon, 07 Nov 1994 08:49:37 GMT"
        #expect(renewed([.date: date]) == [.eTag: "\"a\"", .date: date])
    }

    @Test(
        arguments: [
            ("Accept", [.accept: "image/png"], [.accept: "image/png"], true),
            ("accept", [.accept: "image/png, image/webp"], [.accept: "image/png,image/webp"], true),
            ("Accept", [.accept: "image/png"], [.accept: "image/webp"], false),
            ("Accept", [.accept: ""], [:], false),  // none is not the same as an empty one
            ("Accept", [.accept: "-"], [:], false),
            ("Accept", [:], [.userAgent: "b"], true),
            ("Accept-Language", [.acceptLanguage: "en, de"], [.acceptLanguage: "De ,eN"], true),
            ("Accept-Language", [.acceptLanguage: "en, de; q=0.5"], [.acceptLanguage: "de;q=0.5,en"], true),
            ("Accept-Language", [.acceptLanguage: "en, de;q=0.5"], [.acceptLanguage: "de, en;q=0.5"], false),
            ("Accept-Encoding", [.acceptEncoding: "gzip, BR"], [.acceptEncoding: "br, gzip"], true),
            ("Accept", [.accept: "image/png, image/webp"], [.accept: "image/webp, image/png"], false),
            ("User-Agent, Accept", [.userAgent: "a", .accept: "b"], [.accept: "b", .userAgent: "a"], true),
        ] as [(String, HTTPFields, HTTPFields, Bool)])
    func varyComparesTheFieldsItNames(vary: String, stored: HTTPFields, asked: HTTPFields, matches: Bool) {  // 4.1
        let rule = VaryRule([.vary: vary])
        #expect((rule.selection(of: stored) == rule.selection(of: asked)) == matches)
    }

    @Test func varyCombinesTheNamesOfAllItsLines() {
        var fields = HTTPFields()
        for line in ["Accept", "User-Agent, accept", "Cookie"] {
            fields.append(HTTPField(name: .vary, value: line))
        }
        #expect(VaryRule(fields).names == ["accept", "cookie", "user-agent"])
        fields.append(HTTPField(name: .vary, value: "*"))
        #expect(!VaryRule(fields).canMatch)
    }

    @Test func conditionalRequestSendsBothValidators() throws {  // 4.3.1
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        var sent: HTTPFields = [.accept: "image/png"]
        try #require(ResponseVersion([.eTag: "W/\"a\"", .lastModified: date])).add(to: &sent)
        #expect(sent == [.accept: "image/png", .ifNoneMatch: "W/\"a\"", .ifModifiedSince: date])
        #expect(ResponseVersion([:]) == nil)
        #expect(ResponseVersion([.lastModified: "some day"]) == nil)
    }
}
