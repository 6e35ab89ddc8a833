import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// The limit of connections to a server that requires HTTP/1.1 of requests that were to share one connection.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionPlacesTests {
    private var places = ConnectionPlaces()
    private let key: ConnectionKey
    private let other: ConnectionKey

    init() throws {
        key = ConnectionKey(try HTTPURL("https://example.org/"), proxy: nil)
        other = ConnectionKey(try HTTPURL("https://example.com/"), proxy: nil)
    }

    /// Returns which of `transfers` get a place of two.
    private mutating func taking(_ transfers: UInt64..., at key: ConnectionKey? = nil) -> [UInt64] {
        var found: [UInt64] = []
        for transfer in transfers where places.take(for: transfer, at: key ?? self.key, limit: 2) {
            found.append(transfer)
        }
        return found
    }

    @Test mutating func transfersBeyondTheLimitWaitForAPlaceInOrder() {
        let (first, others) = (taking(1, 2, 3, 4), taking(5, at: other))
        #expect(first == [1, 2] && others == [5])
        #expect(!places.hasReleased)
        places.giveBack(key)
        #expect(places.hasReleased)
        let released = places.takeReleased()
        let next = taking(3)
        #expect(released == 3 && next == [3])
        #expect(places.takeReleased() == nil && !places.hasReleased)
    }

    /// It may look the host up again, in vain.
    @Test mutating func nextTransferIsReleasedUntilThePlacesAreTaken() {
        _ = taking(1, 2, 3, 4, 5)
        places.giveBack(key)
        let released = [places.takeReleased(), places.takeReleased()]
        let next = taking(4)
        #expect(released == [3, 4] && next == [4])
        #expect(places.takeReleased() == nil && !places.hasReleased)
    }

    @Test mutating func transferThatEndsNoLongerWaits() {
        _ = taking(1, 2, 3, 4)
        places.withdraw(3, from: key)
        places.giveBack(key)
        #expect(places.takeReleased() == 4)
    }

    @Test mutating func placesNobodyWaitsForCanBeTaken() {
        _ = taking(1, 2)
        places.giveBack(key)
        places.giveBack(key)
        #expect(!places.hasReleased)
        let next = taking(3, 4, 5)
        #expect(next == [3, 4])
    }

    @Test func requestsThatAreRepeatedOverHTTP1KeepTheLimit() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if stream > 0, path == "/last" { connection.peer.goAway(lastStream: 0, 13) }
        }
        let neighbor = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        let recorders = try ["/a", "/b", "/c", "/d", "/e", "/f", "/last"].flatMap { path in
            try fixture.start(1, server.url(path)) { $0.maximumConnectionsPerHost = 2 }
        }
        for count in 2...7 {
            await server.wait { $0.requests.count { $0.stream == 0 } == count }
            // More connections would have been opened before this one.
            #expect(try await fixture.transport.fetch(neighbor.url("/\(count)")).body == [1])
            let record = server.record.value
            #expect(record.requests.count { $0.stream == 0 } == count)
            #expect(record.accepted <= count + 1)
            let request = record.requests.filter { $0.stream == 0 }[count - 2]
            server.perform { $0.connections[request.connection].respond(0, body: [2]) }
        }
        server.perform { server in
            guard let request = server.record.value.requests.last else { return }
            server.connections[request.connection].respond(0, body: [2])
        }
        for recorder in recorders {
            let record = await recorder.end()
            #expect(record.body == [2] && record.metrics?.protocolName == "HTTP/1.1")
        }
        // Two stay open.
        await server.wait { $0.closed.count == $0.accepted - 2 }
    }

    @Test func canceledTransfersGiveTheirPlacesToOthers() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if stream > 0, path == "/last" { connection.peer.goAway(lastStream: 0, 13) }
            if stream == 0, path == "/last" { connection.respond(0, body: [2]) }
        }
        let canceled = [Recorder(), Recorder(), Recorder()]
        let transfers = try canceled.map { recorder in
            try fixture.transport.start(server.url("/held"), recorder) { $0.maximumConnectionsPerHost = 1 }
        }
        let last = try fixture.start(1, server.url("/last")) { $0.maximumConnectionsPerHost = 1 }
        await server.wait { $0.requests.count { $0.stream == 0 } == 1 }
        // The one that waits before the first one, which has the place.
        for index in [1, 0, 2] {
            transfers[index].cancel()
            #expect(await canceled[index].end().error?.reason == .cancelled)
        }
        #expect(await last[0].end().body == [2])
    }
}
