import HTTPTransport
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LimitTests {
    @Test(arguments: [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose])
    func bodyAtMaximumBodyBytesIsAccepted(framing: LoopbackOrigin.Response.Framing) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_000), framing: framing))
            let record = try await transport.fetch(origin.url("/a")) { $0.maximumBodyBytes = 100_000 }
            #expect(record.isComplete)
            #expect(record.body.count == 100_000)
        }
    }

    @Test(arguments: [LoopbackOrigin.Response.Framing.chunked, .untilClose])
    func overlongBodyIsCutOffAtTheLimit(framing: LoopbackOrigin.Response.Framing) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_001), framing: framing))
            let record = try await transport.fetch(origin.url("/a")) { $0.maximumBodyBytes = 100_000 }
            #expect(record.error?.reason == .bodyTooLarge(limit: 100_000))
            #expect(record.body.count <= 100_000)
        }
    }

    @Test func contentLengthAboveTheLimitFailsBeforeTheBody() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_001)))
            let record = try await transport.fetch(origin.url("/a")) { $0.maximumBodyBytes = 100_000 }
            #expect(record.error?.reason == .bodyTooLarge(limit: 100_000))
            #expect(record.heads.isEmpty)
            #expect(record.body.isEmpty)
        }
    }

    @Test func contentLengthOfABodilessStatusIsIgnored() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"))
            let record = try await transport.fetch(origin.url("/a")) { $0.maximumBodyBytes = 10 }
            #expect(record.isComplete)
        }
    }

    @Test func bytesBeyondContentLengthAreIgnored() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == Array("abc".utf8))
        }
    }

    @Test func tooManyHeaderFieldsAreRejected() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let fields = String(repeating: "A: \(String(repeating: "x", count: 90))\r\n", count: 2_000)
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\n\(fields)\r\n"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }

    @Test func tooLongHeaderLineIsRejected() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 1 << 20))\r\n\r\n"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }

    @Test func endlessInterimResponsesAreRejected() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\n", count: 20_000)))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }

    /// The trailers are long lines, or many short ones, of which libcurl keeps about 100 bytes each.
    @Test(arguments: ["X: a\r\n", "X: \(String(repeating: "a", count: 4_000))\r\n"])
    func endlessTrailersAreRejected(trailer: String) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let trailers = String(repeating: trailer, count: (32 << 20) / trailer.utf8.count)
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" + trailers))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
            #expect(record.body == Array("a".utf8))
            #expect(origin.counts.bodyBytesSent["/a", default: 0] < 16 << 20)
        }
    }

    @Test func manyTrailersAfterAPauseAreRejected() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let trailers = String(repeating: "X: a\r\n", count: 2_000) + "\r\n"
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" + trailers))
            let recorder = Recorder { _, pauses in pauses == 0 ? .pause : .more }
            let transfer = try transport.start(origin.url("/a"), recorder)
            await recorder.wait { $0.pauses == 1 }
            transfer.resume()
            #expect(await recorder.end().error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }

    @Test func fewTrailersAreAccepted() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route(
                "/a",
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: 1\r\nB: 2\r\n\r\n"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.isComplete)
            #expect(record.body == Array("a".utf8))
        }
    }

    /// libcurl answers Digest challenges by itself, repeatedly as long as they are stale.
    @Test func endlessChallengesAreRejected() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a") { request in
                let challenge = "Digest realm=\"a\", qop=\"auth\", stale=true, nonce=\"\(request.ordinal)\""
                return LoopbackOrigin.Response(
                    status: 401,
                    headerFields: ["WWW-Authenticate": challenge, "A": String(repeating: "x", count: 20_000)])
            }
            let record = try await transport.fetch(origin.url("/a")) {
                $0.credential = .digest(user: "me", password: "secret")
            }
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
            #expect(origin.recordedRequests.count < 8)
        }
    }
}
