import HTTPTransport
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LimitTests {
    @Test(arguments: [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose])
    func aBodyAtTheLimitPasses(framing: LoopbackOrigin.Response.Framing) async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_000), framing: framing))
            let record = try await transport.fetch(origin.url("/a")) { $0.bodyLimit = 100_000 }
            #expect(record.isComplete)
            #expect(record.body.count == 100_000)
        }
    }

    @Test(arguments: [LoopbackOrigin.Response.Framing.chunked, .untilClose])
    func aLongerBodyIsCutOffAsItComes(framing: LoopbackOrigin.Response.Framing) async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_001), framing: framing))
            let record = try await transport.fetch(origin.url("/a")) { $0.bodyLimit = 100_000 }
            #expect(record.error?.reason == .bodyTooLarge(limit: 100_000))
            #expect(record.body.count <= 100_000)
        }
    }

    @Test func aClaimOverTheLimitFailsBeforeTheBody() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_001)))
            let record = try await transport.fetch(origin.url("/a")) { $0.bodyLimit = 100_000 }
            #expect(record.error?.reason == .bodyTooLarge(limit: 100_000))
            #expect(record.heads.isEmpty)
            #expect(record.body.isEmpty)
        }
    }

    @Test func aClaimAboutABodyThatDoesNotComeIsNoMatter() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"))
            let record = try await transport.fetch(origin.url("/a")) { $0.bodyLimit = 10 }
            #expect(record.isComplete)
        }
    }

    @Test func aClaimOfLessIsBelieved() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == Array("abc".utf8))
        }
    }

    @Test func manyHeaderFieldsAreTooMany() async throws {
        try await withOrigin { (origin, transport) async throws in
            let fields = String(repeating: "A: \(String(repeating: "x", count: 90))\r\n", count: 2_000)
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\n\(fields)\r\n"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }

    @Test func aLongHeaderLineIsTooLong() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 1 << 20))\r\n\r\n"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }

    @Test func endlessInterimResponsesEnd() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\n", count: 20_000)))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .headerTooLarge(limit: 100 << 10))
        }
    }
}
