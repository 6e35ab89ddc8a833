import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// Servers that negotiate HTTP/2 but require HTTP/1.1.
@Suite(.timeLimit(.minutes(1)))
struct HTTP1RequirementsTests {
    private func key(_ number: Int) throws -> ConnectionKey {
        ConnectionKey(try HTTPURL("https://host\(number).example/"), proxy: nil)
    }

    @Test func requirementEnds() throws {
        var requirements = HTTP1Requirements()
        let now = MonotonicInstant.now
        requirements.insert(try key(1), at: now)
        let (late, end) = (now + (HTTP1Requirements.period - .seconds(1)), now + HTTP1Requirements.period)
        #expect(requirements.contains(try key(1), at: late))
        #expect(!requirements.contains(try key(1), at: end))
        #expect(!requirements.contains(try key(2), at: now))
    }

    @Test func numberOfServersHasAMaximum() throws {
        var requirements = HTTP1Requirements()
        for number in 0...HTTP1Requirements.maximumServers { requirements.insert(try key(number), at: .now) }
        #expect(!requirements.contains(try key(1), at: .now))
        #expect(requirements.contains(try key(HTTP1Requirements.maximumServers), at: .now))
    }

    @Test func renewalForgetsNoOtherServer() throws {
        var requirements = HTTP1Requirements()
        for number in 1...HTTP1Requirements.maximumServers { requirements.insert(try key(number), at: .now) }
        requirements.insert(try key(1), at: .now)
        #expect(requirements.contains(try key(2), at: .now))
        requirements.remove(try key(1))
        #expect(!requirements.contains(try key(1), at: .now))
    }

    @Test(arguments: ["reset", "refused by GOAWAY", "closed after GOAWAY"], [HTTPRequest.Method.get, .head])
    func requestsAreRepeatedOverHTTP1(way: String, method: HTTPRequest.Method) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            guard stream > 0 else { return connection.respond(0, body: method == .head ? nil : [2]) }
            switch (way, path) {
            case ("reset", _): connection.peer.reset(stream, 13)
            case (_, "/a"): break
            case ("refused by GOAWAY", _): connection.peer.goAway(lastStream: 0, 13)
            default:
                connection.peer.goAway(lastStream: stream, 13)
                connection.flush()
                connection.close()
            }
        }
        let recorders = try ["/a", "/a", "/last"].flatMap { path in
            try fixture.start(1, server.url(path)) { $0.method = method }
        }
        for recorder in recorders {
            let record = await recorder.end()
            #expect(record.isComplete && record.body == (method == .head ? [] : [2]))
            #expect(record.metrics?.protocolName == "HTTP/1.1")
        }
        let count = server.record.value.requests.count { $0.stream > 0 }
        let next = try await fixture.transport.fetch(server.url("/next")) { $0.method = method }
        #expect(next.metrics?.protocolName == "HTTP/1.1" && next.metrics?.reusedConnection == true)
        #expect(server.record.value.requests.count { $0.stream > 0 } == count)
        #expect(count == 3)
    }

    @Test func responseThatHasBegunIsNotRepeated() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            connection.isMuted = true
            connection.send(
                .settings(), .headers([(":status", "200")], stream: stream), .data([1], stream: stream),
                .reset(13, stream: stream))
        }
        let record = try await fixture.transport.fetch(server.url("/a"))
        #expect(record.error?.reason == .truncated(expected: nil, received: 1))
        #expect(server.record.value.requests.count == 1)
    }
}
