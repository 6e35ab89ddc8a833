import HTTPTransport
import HTTPTypes
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HeadTests {
    @Test(arguments: [200, 201, 204, 206, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599])
    func everyFinalStatusIsDeliveredAsAResponse(status: Int) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(status: status, headerFields: ["X-A": "1"], body: [1, 2]))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.isComplete)
            #expect(record.head?.response.status.code == status)
            #expect(record.head?.url.string == origin.url("/a"))
            #expect(record.body == (status == 204 || status == 304 ? [] : [1, 2]))
        }
    }

    @Test func interimResponsesAreSkipped() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            var response = LoopbackOrigin.Response(body: [7])
            response.interim = [
                .init(status: 103, headerFields: ["Link": "a"]), .init(status: 100), .init(status: 102),
            ]
            origin.route("/a", response)
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.heads.map(\.response.status) == [.ok])
            #expect(record.body == [7])
        }
    }

    @Test func reusedHandleKeepsNothingOfThePreviousRequest() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let name = try #require(HTTPField.Name("X-Once"))
            let first = try await transport.fetch(origin.url("/a")) {
                $0.method = .head
                $0.headerFields[name] = "1"
            }
            _ = try await transport.fetch(origin.url("/a").replacing("//", with: "//user:secret@", maxReplacements: 1))
            {
                $0.method = .delete
            }
            let last = try await transport.fetch(origin.url("/a"))

            #expect(first.body.isEmpty)
            #expect(last.body == [1])
            #expect(origin.counts.openedConnections == 1)
            let requests = origin.recordedRequests
            #expect(requests.map(\.method) == ["HEAD", "DELETE", "GET"])
            #expect(requests.map { $0.headerFields["X-Once"] } == ["1", nil, nil])
            #expect(requests.map { $0.headerFields["Authorization"] != nil } == [false, true, false])
        }
    }

    @Test func headerFieldsAreSentAsGiven() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response())
            let name = try #require(HTTPField.Name("X-Name"))
            _ = try await transport.fetch(origin.url("/a")) { request in
                request.headerFields = [.accept: "image/*", .userAgent: "", .referer: "x\r\nEvil: 1"]
                request.headerFields.append(HTTPField(name: name, value: "1"))
                request.headerFields.append(HTTPField(name: name, value: "ü"))
                request.headerFields[.contentLength] = "10"
                if let host = HTTPField.Name("Host") { request.headerFields[host] = "evil.example" }
            }
            let fields = try #require(origin.recordedRequests.first).headerFields
            #expect(fields.values(named: "accept") == ["image/*"])
            #expect(fields.values(named: "x-name") == ["1", "ü"])
            #expect(fields.values(named: "host") == ["127.0.0.1:\(origin.port)"])
            #expect(fields["content-length"] == nil)
            #expect(fields["user-agent"] == "")
            #expect(fields["evil"] == nil)
            // Nothing stays with the handle.
            _ = try await transport.fetch(origin.url("/a"))
            #expect(origin.recordedRequests.last?.headerFields["x-name"] == nil)
        }
    }

    @Test func userAndPasswordBecomeBasicAuthorization() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", [.redirect(to: "/b")])
            origin.route("/b", LoopbackOrigin.Response())
            let record = try await transport.fetch("http://user:pa%3Ass@127.0.0.1:\(origin.port)/a")
            #expect(record.head?.url.string == origin.url("/b"))
            #expect(
                origin.recordedRequests.map { $0.headerFields["authorization"] }
                    == Array(repeating: "Basic dXNlcjpwYTpzcw==", count: 2))
            _ = try await transport.fetch(origin.url("/a"))
            #expect(origin.recordedRequests.last?.headerFields["authorization"] == nil)
        }
    }

    @Test func methodsOtherThanGETAreSent() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            _ = try await transport.fetch(origin.url("/a")) { $0.method = .options }
            _ = try await transport.fetch(origin.url("/a"))
            #expect(origin.recordedRequests.map(\.method) == ["OPTIONS", "GET"])
        }
    }

    @Test func aProxyGetsTheWholeURL() async throws {
        try await withLoopbackOrigin { (proxy) async throws in
            let transport = CurlTransport(
                configuration: .init(proxy: .url("http://me:secret@127.0.0.1:\(proxy.port)")))
            let url = "http://nonexistent.invalid/a"
            proxy.route(url, LoopbackOrigin.Response(body: [9]))
            #expect(try await transport.fetch(url).body == [9])
            let request = try #require(proxy.recordedRequests.first)
            #expect(request.target == url)
            #expect(request.headerFields["proxy-authorization"] == "Basic bWU6c2VjcmV0")
        }
    }

    @Test func errorOfInvalidProxyDoesNotContainItsPassword() async throws {
        let transport = CurlTransport(configuration: .init(proxy: .url("bad://me:secret@127.0.0.1:1")))
        let error = try #require(try await transport.fetch("http://example.org/").error)
        #expect(!error.description.contains("secret"))
    }
}
