import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

/// Responses over HTTP/2.
@Suite(.timeLimit(.minutes(1)))
struct SharedResponseTests {
    /// Fetches from a server that answers each request with `frames`, after its settings.
    private func fetch(
        _ recorder: Recorder = Recorder(), method: HTTPRequest.Method = .get,
        answering frames: @escaping (_ stream: Int32) -> [HTTP2Frame]
    ) async throws -> Recorder.Record {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            connection.flush()
            connection.isMuted = true
            connection.write(frames(stream).flatMap(\.bytes))
        }
        _ = try fixture.transport.start(server.url("/a"), recorder) { $0.method = method }
        return await recorder.end()
    }

    @Test func responseToHEADHasNoBody() async throws {
        let record = try await fetch(method: .head) { stream in
            [
                .headers(
                    [(":status", "200"), ("content-length", "100")], HTTP2Frame.endHeaders | HTTP2Frame.endStream,
                    stream: stream)
            ]
        }
        #expect(record.isComplete && record.body.isEmpty)
        #expect(record.head?.response.headerFields[.contentLength] == "100")
    }

    @Test func notModifiedHasNoBody() async throws {
        let record = try await fetch { stream in
            [
                .headers(
                    [(":status", "304"), ("content-length", "100")], HTTP2Frame.endHeaders | HTTP2Frame.endStream,
                    stream: stream)
            ]
        }
        #expect(record.isComplete && record.body.isEmpty && record.head?.status == .notModified)
    }

    @Test func interimResponsesAndTrailersAreSkipped() async throws {
        let record = try await fetch { stream in
            [
                .headers([(":status", "103"), ("link", "<a>")], stream: stream),
                .headers([(":status", "103")], stream: stream),
                .headers([(":status", "200"), ("x-a", "1")], stream: stream), .data([1, 2], stream: stream),
                .headers([("x-b", "2")], HTTP2Frame.endHeaders | HTTP2Frame.endStream, stream: stream),
            ]
        }
        #expect(record.isComplete && record.body == [1, 2] && record.heads.count == 1)
        #expect(record.head?.response.headerFields.map(\.name.canonicalName) == ["x-a"])
    }

    @Test func bodyInSingleBytesIsDeliveredInLargerParts() async throws {
        let calls = Locked(0)
        let body = pattern(20_000)
        let recorder = Recorder(readsDirectly: false) { _, _ in
            calls.withLock { $0 += 1 }
            return .more
        }
        let record = try await fetch(recorder) { stream in
            [.headers([(":status", "200")], stream: stream)] + body.map { .data([$0], stream: stream) }
                + [.data([], HTTP2Frame.endStream, stream: stream)]
        }
        #expect(record.isComplete && record.body == body)
        #expect(calls.withLock { $0 } < 1_000)
    }

    @Test func endlessEmptyPartsEndTheConnection() async throws {
        let record = try await fetch { stream in
            [.headers([(":status", "200")], stream: stream)]
                + Array(repeating: .data([], stream: stream), count: 150_000)
        }
        #expect(record.error?.reason == .invalidResponse)
    }

    /// As a lost connection is: it can be continued.
    @Test(arguments: [0, 1])
    func bodyShorterThanStatedIsTruncated(count: Int) async throws {
        let record = try await fetch { stream in
            [
                .headers([(":status", "200"), ("content-length", "2")], stream: stream),
                .data(Array(repeating: 1, count: count), HTTP2Frame.endStream, stream: stream),
            ]
        }
        #expect(record.error?.reason == .truncated(expected: 2, received: count))
        #expect(record.body.count == count)
    }

    @Test(arguments: [[3], [2, 1], [3, 0], [1, 2, 0]])
    func bodyLongerThanStatedIsInvalid(frames: [Int]) async throws {
        let record = try await fetch { stream in
            [.headers([(":status", "200"), ("content-length", "2")], stream: stream)]
                + frames.enumerated().map { index, count in
                    let isLast = index == frames.count - 1
                    return .data(
                        Array(repeating: 1, count: count), isLast ? HTTP2Frame.endStream : 0, stream: stream)
                }
        }
        #expect(record.error?.reason == .invalidResponse)
        #expect(record.body.count <= 2)
    }

    @Test func headThatIsTooLongIsRefusedAndOthersContinue() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            guard path == "/long" else { return connection.respond(stream, body: [1]) }
            let field = HTTP2Frame.block([("x-a", Array(repeating: UInt8(ascii: "x"), count: 16_000))])
            connection.send(.headers([(":status", "200")], 0, stream: stream))
            for number in 1...7 {
                connection.send(.continuation(field, number == 7 ? HTTP2Frame.endHeaders : 0, stream: stream))
            }
        }
        let recorders = try ["/a", "/long", "/b"].flatMap { try fixture.start(1, server.url($0)) }
        let errors = [await recorders[0].end(), await recorders[1].end(), await recorders[2].end()].map(\.error?.reason)
        guard case .headerTooLarge = errors[1] else {
            Issue.record("\(errors)")
            return
        }
        #expect(errors[0] == nil && errors[2] == nil && server.record.value.accepted == 1)
    }

    @Test(arguments: ["h2", "http/1.1"])
    func redirectLeadsToAnotherServer(target: String) async throws {
        let fixture = try SharedFixture()
        let second = try fixture.server(protocol: target) { connection, stream, _ in
            connection.respond(stream, body: [2])
        }
        let location = second.url("/b", host: "b.example")
        let first = try fixture.server { connection, stream, _ in
            connection.respond(stream, status: 302, [("location", location)], body: [1])
        }
        for isReused in [false, true] {
            let record = try await fixture.transport.fetch(first.url("/a"))
            #expect(record.body == [2] && record.head?.url.string == location)
            #expect(record.metrics?.protocolName == (target == "h2" ? "HTTP/2" : "HTTP/1.1"))
            #expect(record.metrics?.reusedConnection == isReused && record.metrics?.redirectCount == 1)
        }
        #expect(first.record.value.accepted == 1 && second.record.value.accepted == 1)
    }

    @Test func bodyOfARedirectIsGivenUpByEndingItsStream() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            guard path == "/a" else { return connection.respond(stream, body: [2]) }
            connection.respond(stream, status: 302, [("location", "/b")], body: pattern(3 << 20))
        }
        let record = try await fixture.transport.fetch(server.url("/a"))
        #expect(record.body == [2] && record.metrics?.reusedConnection == true)
        #expect(server.record.value.accepted == 1)
        await server.wait { $0.resets == [[0, 1]: 8] }
    }

    @Test func providerAnswersAChallenge() async throws {
        let fixture = try SharedFixture(credentialProvider: Provider())
        let server = try fixture.server { connection, stream, _ in
            let fields = connection.peer.requests[stream, default: []]
            guard fields.contains(where: { $0.name == "authorization" }) else {
                return connection.respond(stream, status: 401, [("www-authenticate", "Basic realm=\"x\"")], body: [1])
            }
            connection.respond(stream, body: [2])
        }
        for recorder in try fixture.start(5, server.url("/a")) {
            let record = await recorder.end()
            #expect(record.body == [2] && record.heads.count == 1, "\(String(describing: record.error))")
        }
    }

    private struct Provider: CredentialProvider {
        func credential(for challenge: CredentialChallenge) async throws -> Credential? {
            .basic(user: "me", password: "secret")
        }
    }

    @Test func bothVersionsOfHTTPSendTheSameFields() async throws {
        let fixture = try SharedFixture()
        var found: [[String: String]] = []
        for name in ["h2", "http/1.1"] {
            let server = try fixture.server(protocol: name) { connection, stream, _ in connection.respond(stream) }
            for accept in [nil, "image/*"] {
                let record = try await fixture.transport.fetch(server.url("/a?b")) {
                    $0.headerFields[.userAgent] = "test"
                    $0.headerFields[.accept] = accept
                    $0.headerFields[.cacheControl] = "no-cache"
                }
                #expect(record.isComplete)
            }
            found += server.record.value.requests.map { request in
                var fields = request.fields
                if let host = fields.removeValue(forKey: ":authority") { fields["host"] = host }
                #expect(fields.removeValue(forKey: "host") == "127.0.0.1:\(server.port)" && request.path == "/a?b")
                return fields.filter { !$0.key.hasPrefix(":") }
            }
        }
        let fields = ["user-agent": "test", "cache-control": "no-cache"]
        let expected = ["*/*", "image/*"].map { accept in fields.merging(["accept": accept]) { $1 } }
        #expect(found == expected + expected)
    }
}
