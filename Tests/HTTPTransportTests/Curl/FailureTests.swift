import HTTPTransport
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FailureTests {
    typealias Response = LoopbackOrigin.Response

    @Test(
        arguments: [
            (Response(body: pattern(1_000)).cut(at: .start), .connectionLost),
            (Response(body: pattern(1_000)).reset(at: .start), .connectionLost),
            (Response(body: pattern(1_000)).cut(at: .insideHead), .connectionLost),
            (Response(body: pattern(1_000)).reset(at: .insideHead), .connectionLost),
            (Response(body: pattern(1_000)).cut(at: .body(0)), .truncated(expected: 1_000, received: 0)),
            (Response(body: pattern(1_000)).cut(at: .body(400)), .truncated(expected: 1_000, received: 400)),
            (
                Response(body: pattern(100), framing: .claimedContentLength(101)),
                .truncated(expected: 101, received: 100)
            ),
            (
                Response(body: pattern(1_000), framing: .chunked).cut(at: .body(400)),
                .truncated(expected: nil, received: 400)
            ),
            (
                Response(body: pattern(1_000), framing: .chunked).cut(at: .body(1_000)),
                .truncated(expected: nil, received: 1_000)
            ),
            (.raw(""), .connectionLost),
            (.raw("garbage\r\n\r\n"), .invalidResponse),
            (.raw(pattern(10_000)), .invalidResponse),
            (.raw("HTTP/1.1 20x OK\r\n\r\n"), .invalidResponse),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc"), .invalidResponse),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc"), .invalidResponse),
            (.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"), .invalidResponse),
            (
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\nabc\r\n"),
                .invalidResponse
            ),
            (
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nno field\r\n\r\n"),
                .invalidResponse
            ),
            (.raw("HTTP/9.9 200 OK\r\n\r\n"), .invalidResponse),
            (.raw("HTTP/1.1 101 Switching\r\n\r\nwhatever"), .invalidResponse),
        ] as [(Response, TransportError.Reason)])
    func protocolErrorIsReportedWithItsReason(response: Response, reason: TransportError.Reason) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", response)
            let record = try await transport.fetch(origin.url("/a"))
            let error = try #require(record.error)
            #expect(error.reason == reason)
            #expect(error.url == origin.url("/a"))
            #expect(!error.description.contains("\n"))
            #expect(record.outcomes.count == 1)
            #expect(await transport.transferCount == 0)
        }
    }

    @Test func connectionResetWithinBodyIsTruncation() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", Response(body: pattern(1_000_000)).reset(at: .body(300_000)))
            let error = try #require(try await transport.fetch(origin.url("/a")).error)
            guard case .truncated(1_000_000, let received) = error.reason else {
                Issue.record("\(error)")
                return
            }
            #expect(received <= 300_000)
            #expect(error.isRetryable)
        }
    }

    @Test func refusedConnectionIsConnectionFailed() async throws {
        // Nothing listens there; the port of a stopped origin may be another origin's by now.
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let error = try #require(try await transport.fetch("http://127.0.0.1:1/a").error)
        #expect(error.reason == .connectionFailed)
        #expect(error.description.hasPrefix("no connection could be made ("))
    }

    @Test func anUnknownHostIsNotFound() async throws {
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let error = try #require(try await transport.fetch("http://nonexistent.invalid/a").error)
        #expect(error.reason == .hostNotFound)
        #expect(error.description.hasPrefix("the host is unknown (nonexistent.invalid: "))
    }

    @Test func idleConnectionClosedByTheServerIsReplaced() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            // The first answer keeps the connection, the second request finds it closed without an answer.
            origin.route("/a", Response(body: [1]))
            origin.route("/b", [Response().cut(at: .start), Response(body: [2])])
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
            #expect(try await transport.fetch(origin.url("/b")).body == [2])
            #expect(origin.counts.openedConnections == 2)
        }
    }

    /// A server that restarts closes connections in this way, so a retry may succeed.
    @Test func connectionClosedDuringTLSHandshakeIsConnectionFailed() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            // The origin does not recognize the handshake as a request.
            let error = try #require(try await transport.fetch("https://127.0.0.1:\(origin.port)/").error)
            #expect(error.reason == .connectionFailed)
            #expect(error.isRetryable)
        }
    }

    @Test(arguments: [
        TransportError.Reason.invalidURL, .hostNotFound, .connectionFailed, .tlsFailure, .timedOut(.connect),
        .timedOut(.firstByte), .timedOut(.idle), .timedOut(.total), .truncated(expected: 10, received: 5),
        .truncated(expected: nil, received: 5), .connectionLost, .bodyTooLarge(limit: 1), .headerTooLarge(limit: 1),
        .requestTooLarge(limit: 1),
        .invalidResponse, .tooManyRedirects(limit: 3), .unsupportedRedirect, .insecureRedirect, .cancelled,
        .other(code: 99),
        .refusedByProxy(status: 403), .invalidProxy, .tooManyOpenFiles, .threadStartFailed,
    ])
    func everyTransportErrorReasonHasADescription(reason: TransportError.Reason) {
        let text = TransportError(url: "http://example.org/", reason: reason).description
        #expect(text.count > 8)
        #expect(!text.contains("Optional") && !text.contains("\n"))
        let detailed = TransportError(url: "http://example.org/", reason: reason, detail: "so\u{1B}\n").description
        #expect(detailed == "\(text) (so??)")
    }
}
