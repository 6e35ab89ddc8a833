import LoopbackOrigin
import Testing

@testable import HTTPTransport

/// Idle connections that the server closes just when a request is sent over them (RFC 9112, section 9.3.1).
@Suite(.timeLimit(.minutes(1)))
struct StandingConnectionTests {
    typealias Response = LoopbackOrigin.Response

    private static let closings = [Response().cut(at: .start), Response().reset(at: .start)]

    @Test(arguments: closings)
    func reusedConnectionClosedByTheServerIsReplaced(closing: Response) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/first", Response(body: [1]))
            origin.route("/a", [closing, Response(body: [2])])
            #expect(try await transport.fetch(origin.url("/first")).body == [1])
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == [2])
            #expect(record.metrics?.reusedConnection == false)
            #expect(origin.counts.requests["/a"] == 2)
            #expect(origin.counts.openedConnections == 2)
        }
    }

    /// libcurl itself tries one idle connection after another, and then fails.
    @Test(arguments: closings)
    func manyReusedConnectionsClosedByTheServerAreReplaced(closing: Response) async throws {
        let count = 10
        try await withOriginTwice { (origin, transport) async throws in
            let gate = Gate()
            origin.route("/held", Response(body: [1]).held(at: .start, until: gate))
            origin.route("/a") { $0.connection > count ? Response(body: [2]) : closing }
            let held = try (0..<count).map { _ in
                let recorder = Recorder()
                _ = try transport.start(origin.url("/held"), recorder)
                return recorder
            }
            await origin.counts { $0.runningRequests == count }
            gate.open()
            for recorder in held { #expect(await recorder.end().body == [1]) }
            #expect(try await transport.fetch(origin.url("/a")).body == [2])
            #expect((2...count).contains(origin.counts.requests["/a"] ?? 0))
            #expect(origin.counts.openedConnections == count + 1)
        }
    }

    @Test(arguments: closings)
    func newConnectionClosedByTheServerIsAFailure(closing: Response) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/first", Response(body: [1]))
            origin.route("/a", closing)
            #expect(try await transport.fetch(origin.url("/first")).body == [1])
            #expect(try await transport.fetch(origin.url("/a")).error?.reason == .connectionLost)
            #expect(origin.counts.requests["/a"] == 2)
        }
    }
}
