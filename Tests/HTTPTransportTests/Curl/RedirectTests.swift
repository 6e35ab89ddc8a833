import HTTPTransport
import HTTPTypes
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RedirectTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreFollowed(status: Int) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route(
                "/a",
                LoopbackOrigin.Response(status: status, headerFields: ["Location": "b/../c?x"], body: pattern(5_000)))
            origin.route("/c?x", LoopbackOrigin.Response(body: [1]))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == [1])
            #expect(record.heads.count == 1)
            #expect(record.head?.url.string == origin.url("/c?x"))
            #expect(record.head?.redirectCount == 1)
            #expect(record.metrics?.redirectCount == 1)
            #expect(record.metrics?.bodyBytes == 1)
            #expect(origin.counts.openedConnections == 1)
        }
    }

    @Test func redirectChainsCanCrossOrigins() async throws {
        let key = try #require(HTTPField.Name("X-Api-Key"))
        try await withLoopbackOrigin { (other) async throws in
            other.route("/end", LoopbackOrigin.Response(body: [1]))
            try await withOriginTwice { (origin, transport) async throws in
                origin.route("/0", .redirect(to: "/1"))
                origin.route("/1", .redirect(to: origin.url("/2")))
                origin.route("/2", .redirect(to: other.url("/end")))
                let record = try await transport.fetch(origin.url("/0")) {
                    $0.headerFields = [.authorization: "Bearer x", .cookie: "a=b", .accept: "image/*"]
                    $0.headerFields[key] = "secret"
                }
                #expect(record.head?.redirectCount == 3)
                #expect(record.body == [1])
                #expect(origin.recordedRequests.allSatisfy { $0.headerFields["authorization"] == "Bearer x" })
                let last = try #require(other.recordedRequests.first).headerFields
                #expect(last["authorization"] == nil)
                #expect(last["cookie"] == nil)
                #expect(last["x-api-key"] == nil)
                #expect(origin.recordedRequests.allSatisfy { $0.headerFields["x-api-key"] == "secret" })
                #expect(last["accept"] == "image/*")
            }
        }
    }

    @Test func redirectLoopFails() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .redirect(to: "/a"))
            let record = try await transport.fetch(origin.url("/a")) { $0.maximumRedirects = 5 }
            #expect(record.error?.reason == .tooManyRedirects(limit: 5))
            #expect(origin.counts.totalRequests == 6)
        }
    }

    @Test func redirectLoopFailsAfterTenByDefault() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .redirect(to: "/a"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .tooManyRedirects(limit: 10))
            #expect(origin.counts.totalRequests == 11)
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func userAndPasswordInALocationAreIgnored(host: String) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .redirect(to: "http://you:yours@\(host):\(origin.port)/b"))
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == [1])
            #expect(record.head?.url.string == "http://\(host):\(origin.port)/b")
            #expect(origin.recordedRequests.allSatisfy { $0.headerFields["authorization"] == nil })
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)"])
    func redirectsToOtherSchemesAreRejected(location: String) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .redirect(to: location))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .unsupportedRedirect)
            #expect(record.error?.description == "redirected to a URL that is not http or https (\(location))")
        }
    }

    @Test func redirectStatusWithoutLocationIsTheResponse() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(status: 302, body: [1]))
            origin.route("/b", LoopbackOrigin.Response(status: 304, headerFields: ["Location": "/a"]))
            #expect(try await transport.fetch(origin.url("/a")).head?.response.status == .found)
            #expect(try await transport.fetch(origin.url("/b")).head?.response.status == .notModified)
        }
    }

    @Test func anEndlessBodyOfARedirectIsNotRead() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route(
                "/a", LoopbackOrigin.Response(status: 302, headerFields: ["Location": "/b"], body: pattern(20_000_000)))
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            #expect(try await transport.fetch(origin.url("/a")) { $0.maximumBodyBytes = 1 }.body == [1])
        }
    }

    @Test func truncatedBodyOfARedirectIsIgnored() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route(
                "/a",
                LoopbackOrigin.Response(status: 302, headerFields: ["Location": "/b"], body: pattern(100)).cut(
                    at: .body(50)))
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
        }
    }

    @Test(arguments: [
        LoopbackOrigin.Response(status: 302, headerFields: ["Location": "/b"], body: pattern(60_000))
            .stalled(at: .body(3)),
        LoopbackOrigin.Response(status: 302, headerFields: ["Location": "/b"], body: pattern(60_000))
            .paced(bytesPerSecond: 20, chunk: 1),
        LoopbackOrigin.Response(status: 302, headerFields: ["Location": "/b"], framing: .untilClose)
            .stalled(at: .body(0)),
    ])
    func endlessRedirectBodyIsNotAwaited(redirect: LoopbackOrigin.Response) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", redirect)
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            // Also without any deadline.
            for total in [Duration.seconds(30), nil] {
                let record = try await transport.fetch(origin.url("/a")) { $0.deadlines.total = total }
                #expect(record.body == [1])
                #expect(record.metrics?.redirectCount == 1)
            }
            #expect(await transport.transferCount == 0)
        }
    }

    /// libcurl delivers such a body in turns of a few milliseconds.
    @Test func malformedBodyOfARedirectIsIgnored() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let head = "HTTP/1.1 302 Found\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\n"
            origin.route("/a", .raw("\(head)no chunk\r\n"))
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
        }
    }

    @Test func redirectWithEndlessBodyOfTinyChunksIsFollowed() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let head = "HTTP/1.1 302 Found\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\n"
            origin.route("/a", LoopbackOrigin.Response.raw(head).followed(by: "1\r\na\r\n", .endlessly))
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            for _ in 0..<5 { #expect(try await transport.fetch(origin.url("/a")).body == [1]) }
        }
    }

    @Test func deadlinesApplyToRedirectWithEndlessBody() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let redirect = LoopbackOrigin.Response(status: 302, headerFields: ["Location": "/b"], body: pattern(60_000))
            origin.route("/a", redirect.stalled(at: .body(3)))
            origin.route("/b", LoopbackOrigin.Response(body: [1]).stalled(at: .start))
            let kinds: [(WritableKeyPath<Deadlines, Duration?>, Deadlines.Kind)] = [
                (\.firstByte, .firstByte), (\.total, .total),
            ]
            for (limit, kind) in kinds {
                let record = try await transport.fetch(origin.url("/a")) { request in
                    request.deadlines = Deadlines(lookup: nil, connect: nil, firstByte: nil, idle: nil, total: nil)
                    request.deadlines[keyPath: limit] = .seconds(1)
                }
                #expect(record.error?.reason == .timedOut(kind))
            }
        }
    }

    @Test func status303KeepsTheHEADMethod() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .redirect(to: "/b", status: 303))
            origin.route("/b", LoopbackOrigin.Response(body: [1]))
            let record = try await transport.fetch(origin.url("/a")) { $0.method = .head }
            #expect(record.isComplete)
            #expect(origin.recordedRequests.map(\.method) == ["HEAD", "HEAD"])
        }
    }
}
