import HTTPTransport
import TestSupport
import Testing

/// Servers that accept few streams, and few connections.
@Suite(.timeLimit(.minutes(1)))
struct SharedLimitTests {
    /// Before the server's settings arrive, the client does not know the limit.
    @Test(arguments: [1, 3] as [UInt32])
    func allTransfersOfAServerWithFewStreamsComplete(limit: UInt32) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(maximumStreams: limit) { connection, stream, _ in
            connection.respond(stream, body: [1])
        }
        for recorder in try fixture.start(10, server.url("/a")) {
            let record = await recorder.end()
            #expect(record.body == [1], "\(String(describing: record.error))")
        }
        #expect(server.record.value.count(of: "/a") == 10)
    }

    @Test func transferThatWaitsForAPlaceTakesTheNextStreamThatIsFree() async throws {
        let fixture = try SharedFixture(maximumConnections: 1)
        let server = try fixture.server(maximumStreams: 3) { connection, stream, path in
            if path == "/a" { connection.respond(stream, body: [1]) }
        }
        // Until it is answered, the server's settings have arrived.
        #expect(try await fixture.transport.fetch(server.url("/a")).isComplete)
        let recorders = try fixture.start(7, server.url("/held"))
        for count in 3..<7 {
            await server.wait { $0.count(of: "/held") == count }
            server.perform { server in
                let held = server.record.value.requests.filter { $0.path == "/held" }
                server.connections[0].respond(held[count - 3].stream, body: [2])
            }
        }
        await server.wait { $0.count(of: "/held") == 7 }
        server.perform { server in
            for request in server.record.value.requests.suffix(3) {
                server.connections[0].respond(request.stream, body: [2])
            }
        }
        for recorder in recorders { #expect(await recorder.end().body == [2]) }
        #expect(server.record.value.accepted == 1)
    }

    /// They have not waited for each other, because no connection could be opened before.
    @Test func transfersThatWaitForPlacesShareTheFirstConnection() async throws {
        let fixture = try SharedFixture(maximumConnections: 1)
        let server = try fixture.server(accepted: { connection in
            if connection.number == 0 { connection.close() }
        }) { _, _, _ in }
        // Others no longer wait for the first one.
        #expect(try await fixture.transport.fetch(server.url("/a")).error?.reason == .connectionFailed)
        let recorders = try fixture.start(10, server.url("/held"))
        await server.wait { $0.count(of: "/held") == 10 }
        server.perform { server in
            for request in server.record.value.requests { server.connections[1].respond(request.stream, body: [2]) }
        }
        for recorder in recorders { #expect(await recorder.end().body == [2]) }
        #expect(server.record.value.accepted == 2)
    }

    @Test func idleSharedConnectionIsReplacedByOneToAnotherServer() async throws {
        let fixture = try SharedFixture(maximumConnections: 1)
        let servers = try (0..<2).map { _ in
            try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        }
        for _ in 0..<2 {
            for server in servers { #expect(try await fixture.transport.fetch(server.url("/a")).body == [1]) }
        }
        #expect(servers.map { $0.record.value.accepted } == [2, 2])
    }

    @Test func transferOfAnotherServerTakesThePlaceOfAHandshakeThatIsCanceled() async throws {
        let fixture = try SharedFixture(maximumConnections: 1)
        let stalled = try fixture.server(accepted: { $0.isStalled = true }) { _, _, _ in }
        let server = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        let canceled = Recorder()
        let transfer = try fixture.transport.start(stalled.url("/a"), canceled)
        await stalled.wait { $0.accepted == 1 }
        let waiting = try fixture.start(3, server.url("/a"))
        transfer.cancel()
        #expect(await canceled.end().error?.reason == .cancelled)
        for recorder in waiting { #expect(await recorder.end().body == [1]) }
        #expect(server.record.value.accepted == 1)
    }
}
