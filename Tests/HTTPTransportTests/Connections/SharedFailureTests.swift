import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

/// Servers that fail, refuse, or do not answer.
@Suite(.timeLimit(.minutes(1)))
struct SharedFailureTests {
    /// The connection is refused in the turn in which the transfers are started, after which nothing else happens.
    @Test func allTransfersToAPortThatIsClosedEnd() async throws {
        let fixture = try SharedFixture()
        for _ in 0..<20 {
            for recorder in try fixture.start(5, "https://127.0.0.1:\(try freePort())/") {
                #expect(await recorder.end().error?.reason == .connectionFailed)
            }
        }
    }

    @Test func completeResponseBeforeAViolationIsDelivered() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, _, path in
            guard path == "/held" else { return }
            // One part is larger than those that are collected.
            connection.send(
                .headers([(":status", "200")], stream: 1), .data([1], HTTP2Frame.endStream, stream: 1),
                .headers([(":status", "200")], stream: 3),
                .data(pattern(5_000), HTTP2Frame.endStream, stream: 3),
                .headers([(":status", "200")], stream: 5), .data([2], stream: 5), .ping(stream: 9))
        }
        let recorders = try ["/a", "/b", "/held"].flatMap { try fixture.start(1, server.url($0)) }
        #expect(await recorders[0].end().body == [1])
        #expect(await recorders[1].end().body == pattern(5_000))
        let lost = await recorders[2].end()
        #expect(lost.error?.reason == .truncated(expected: nil, received: 1) && lost.body == [2])
        #expect(lost.error?.detail?.hasPrefix("the server violates HTTP/2: PROTOCOL_ERROR (0x1)") == true)
    }

    /// The others are innocent, and the server may work the next time.
    @Test(arguments: [true, false])
    func requestsOfAConnectionWithAViolationAreRepeatedOnce(isRepeated: Bool) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if connection.number > 0, !isRepeated { return connection.respond(stream, body: [2]) }
            if path == "/last" { connection.send(.ping(stream: 3)) }
        }
        for recorder in try fixture.start(19, server.url("/a")) + fixture.start(1, server.url("/last")) {
            let record = await recorder.end()
            if isRepeated {
                #expect(record.error?.reason == .connectionLost && record.error?.isRetryable == true)
                #expect(record.error?.detail?.hasPrefix("the server violates HTTP/2: PROTOCOL_ERROR (0x1)") == true)
            } else {
                #expect(record.body == [2])
            }
        }
        #expect(server.record.value.accepted == 2)
        #expect(server.record.value.requests.count == 40)
    }

    @Test func invalidResponseSaysWhatIsWrong() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            connection.respond(stream, [("connection", "close")], body: [1])
        }
        let error = try await fixture.transport.fetch(server.url("/a")).error
        #expect(error?.reason == .invalidResponse)
        #expect(error?.detail?.hasPrefix("the response violates HTTP/2: PROTOCOL_ERROR (0x1), Invalid") == true)
        #expect(error?.detail?.contains("[connection]") == true)
        #expect(server.record.value.requests.count == 1)
    }

    /// The server receives too much, and would receive more.
    @Test(arguments: ["reset", "refused by GOAWAY", "closed after GOAWAY"])
    func requestIsNotRepeatedAtOnceIfTheServerAsksForCalm(way: String) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            switch way {
            case "reset": connection.peer.reset(stream, 11)
            case "refused by GOAWAY": connection.peer.goAway(lastStream: 0, 11, "later")
            default:
                connection.peer.goAway(lastStream: stream, 11, "later")
                connection.flush()
                connection.close()
            }
        }
        let error = try await fixture.transport.fetch(server.url("/a")).error
        #expect(error?.reason == .connectionLost && error?.isRetryable == true)
        let action = way == "reset" ? "reset the stream" : "closed the connection"
        #expect(error?.detail?.hasPrefix("the server \(action) with ENHANCE_YOUR_CALM (0xb): it receives") == true)
        #expect(error?.detail?.hasSuffix("(\"later\")") == (way != "reset"))
        #expect(server.record.value.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func completeResponseOfAPausedTransferOutlivesItsConnection(isCorrupt: Bool) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            connection.respond(stream, body: pattern(100_000))
            connection.peer.ping()
        }
        let recorder = Recorder { received, pauses in received > 0 && pauses == 0 ? .pause : .more }
        let transfer = try fixture.transport.start(server.url("/a"), recorder)
        await recorder.wait { $0.pauses == 1 }
        await server.wait { !$0.pongs.isEmpty }
        server.perform { server in
            if isCorrupt { server.connections[0].corrupt() } else { server.connections[0].close(resets: true) }
        }
        await server.wait { $0.closed.contains(0) }
        #expect(try await fixture.transport.fetch(server.url("/a")).body == pattern(100_000))
        transfer.resume()
        let record = await recorder.end()
        #expect(record.body == pattern(100_000), "\(String(describing: record.error))")
    }

    /// The answer to a ping cannot be sent anymore, but what has arrived can be read.
    @Test func responseThatArrivedBeforeTheServerVanishedIsDelivered() async throws {
        let fixture = try SharedFixture()
        let gate = ThreadGate()
        let server = try fixture.server { connection, stream, _ in
            connection.isMuted = true
            connection.send(
                .settings(), .headers([(":status", "200")], stream: stream), .data(pattern(5_000), stream: stream),
                .ping)
        }
        let recorder = Recorder(readsDirectly: false) { received, _ in
            if received == 0 {
                server.perform { server in
                    let connection = server.connections[0]
                    connection.send(.data([7], HTTP2Frame.endStream))
                    while connection.unreceivedCount > 0 {}
                    connection.close(resets: true)
                    gate.open()
                }
                gate.wait()
            }
            return .more
        }
        _ = try fixture.transport.start(server.url("/a"), recorder)
        let record = await recorder.end()
        #expect(record.body == pattern(5_000) + [7], "\(String(describing: record.error))")
    }

    /// They share one new connection, and only what may have been processed is not repeated.
    @Test(arguments: [0, 2] as [UInt32])
    func requestsThatAServerHasNotProcessedAreRepeatedOverOneConnection(code: UInt32) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if connection.number > 0 { return connection.respond(stream, body: [2]) }
            if path == "/last" {
                connection.peer.goAway(lastStream: 3, code)
                connection.respond(1, body: [1])
                connection.respond(3, body: [1])
            }
        }
        let first = try fixture.start(19, server.url("/a"))
        let last = try fixture.start(1, server.url("/last"))
        var bodies: [[UInt8]] = []
        for recorder in first + last { bodies.append(await recorder.end().body) }
        #expect(bodies == [[1], [1]] + Array(repeating: [2], count: 18))
        #expect(server.record.value.accepted == 2)
        #expect(server.record.value.requests.count == 38)
    }

    @Test(arguments: [true, false])
    func requestsOfALostConnectionAreRepeatedOnceOverOneConnection(isLostAgain: Bool) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if connection.number > 0, !isLostAgain { return connection.respond(stream, body: [2]) }
            if path == "/last" { connection.close() }
        }
        let recorders = try fixture.start(19, server.url("/a")) + fixture.start(1, server.url("/last"))
        for recorder in recorders {
            let record = await recorder.end()
            if isLostAgain { #expect(record.error?.reason == .connectionLost) } else { #expect(record.body == [2]) }
        }
        #expect(server.record.value.accepted == 2)
        #expect(server.record.value.requests.count == 40)
    }

    /// As the first one on a connection, it leaves the connection to others.
    @Test func requestThatIsTooLargeFailsAtOnce() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        for _ in 0..<2 {
            let record = try await fixture.transport.fetch(server.url("/large")) {
                $0.headerFields[.userAgent] = String(repeating: "x", count: 100_000)
            }
            #expect(record.error?.reason == .requestTooLarge(limit: HTTP2Session.maximumRequestSize))
            #expect(record.error?.isRetryable == false)
            #expect(try await fixture.transport.fetch(server.url("/a")).body == [1])
        }
        let record = server.record.value
        #expect(record.accepted == 1 && record.closed.isEmpty && record.count(of: "/large") == 0)
    }

    @Test func requestWithAnotherMethodIsNotRepeated() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, _, _ in connection.close() }
        let record = try await fixture.transport.fetch(server.url("/a")) { $0.method = .delete }
        #expect(record.error?.reason == .connectionLost)
        #expect(server.record.value.requests.count == 1)
    }

    /// The server has not processed it, whatever the method (RFC 9113, section 8.7).
    @Test(
        arguments: [1, ActiveTransfer.maximumRefusals, ActiveTransfer.maximumRefusals + 1],
        [HTTPRequest.Method.get, .delete])
    func refusedRequestIsRepeatedAFewTimes(refusals: Int, method: HTTPRequest.Method) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if connection.number < refusals { return connection.peer.reset(stream, 7) }
            connection.respond(stream, body: [2])
        }
        let record = try await fixture.transport.fetch(server.url("/a")) { $0.method = method }
        if refusals <= ActiveTransfer.maximumRefusals {
            #expect(record.body == [2])
        } else {
            #expect(record.error?.reason == .connectionLost && record.error?.detail == "the server refused the request")
        }
        #expect(server.record.value.requests.count == min(ActiveTransfer.maximumRefusals, refusals) + 1)
    }

    @Test func requestsThatAreRefusedLaterAreRepeatedOverTheSameNewConnection() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if connection.number > 0 { connection.respond(stream, body: [2]) }
        }
        let recorders = try fixture.start(5, server.url("/a"))
        await server.wait { $0.requests.count == 5 }
        for (number, recorder) in recorders.enumerated() {
            server.perform { $0.connections[0].peer.reset(Int32(2 * number + 1), 7) }
            #expect(await recorder.end().body == [2])
        }
        #expect(server.record.value.accepted == 2 && server.record.value.requests.count == 10)
    }

    @Test func responseWhoseStreamIsResetIsTruncated() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            connection.isMuted = true
            connection.send(
                .settings(), .headers([(":status", "200"), ("content-length", "10")], stream: stream),
                .data([1, 2, 3], stream: stream), .reset(2, stream: stream))
        }
        let record = try await fixture.transport.fetch(server.url("/a"))
        #expect(record.error?.reason == .truncated(expected: 10, received: 3))
        #expect(record.body == [1, 2, 3] && server.record.value.requests.count == 1)
    }

    /// Otherwise, anyone between the client and the server could shorten the body (RFC 8446, section 6.1).
    @Test(arguments: [nil, 3])
    func bodyWithoutALengthIsTruncatedIfTLSDoesNotAnnounceItsEnd(length: Int?) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(protocol: "http/1.1") { connection, _, _ in
            let field = length.map { "Content-Length: \($0)\r\n" } ?? ""
            connection.write(Array("HTTP/1.1 200 OK\r\n\(field)\r\nabc".utf8))
            connection.flush()
            connection.close()
        }
        let record = try await fixture.transport.fetch(server.url("/a"))
        #expect(record.body == Array("abc".utf8))
        #expect(record.isComplete == (length != nil))
        if length == nil { #expect(record.error?.reason == .truncated(expected: nil, received: 3)) }
    }

    /// The connection may be dead, and further requests would wait as long.
    @Test(arguments: [1, 5])
    func connectionOnWhichNothingArrivesIsNotUsedAgain(count: Int) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(accepted: { $0.isMuted = $0.number == 0 }) { connection, stream, _ in
            if connection.number > 0 { connection.respond(stream, body: [1]) }
        }
        for recorder in try fixture.start(count, server.url("/a"), { $0.deadlines.firstByte = .milliseconds(100) }) {
            #expect(await recorder.end().error?.reason == .timedOut(.firstByte))
        }
        #expect(try await fixture.transport.fetch(server.url("/a")).body == [1])
        #expect(server.record.value.accepted == 2)
    }

    @Test func connectionThatFallsSilentIsNotUsedAgain() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in
            guard connection.number == 0 else { return connection.respond(stream, body: [1]) }
            connection.send(.headers([(":status", "200")], stream: stream), .data([1, 2], stream: stream))
            connection.isMuted = true
        }
        let record = try await fixture.transport.fetch(server.url("/a")) { $0.deadlines.idle = .milliseconds(100) }
        #expect(record.error?.reason == .timedOut(.idle) && record.body == [1, 2])
        #expect(try await fixture.transport.fetch(server.url("/a")).body == [1])
        #expect(server.record.value.accepted == 2)
    }

    @Test func transferThatIsCanceledAtOnceDoesNotCostTheConnection() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if path == "/a" { connection.respond(stream, body: [1]) }
        }
        #expect(try await fixture.transport.fetch(server.url("/a")).isComplete)
        let recorder = Recorder()
        let transfer = try fixture.transport.start(server.url("/held"), recorder)
        await server.wait { $0.count(of: "/held") == 1 }
        transfer.cancel()
        #expect(await recorder.end().error?.reason == .cancelled)
        await server.wait { $0.resets == [[0, 3]: 8] }
        #expect(try await fixture.transport.fetch(server.url("/a")).metrics?.reusedConnection == true)
        #expect(server.record.value.accepted == 1)
    }

    /// Bytes can leave the socket with the last message of the handshake.
    @Test(arguments: [0x303, 0x304] as [Int32])
    func framesThatArriveWithTheHandshakeAreAnsweredAtOnce(version: Int32) async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(version: version, accepted: { $0.peer.ping() }) { _, _, _ in }
        let recorder = Recorder()
        let transfer = try fixture.transport.start(server.url("/a"), recorder)
        await server.wait { $0.pongs.count == 1 }
        transfer.cancel()
        #expect(await recorder.end().error?.reason == .cancelled)
    }
}

extension HTTP2Frame {
    /// A ping with the number of a stream, which it must not have.
    static func ping(stream: Int32) -> Self { Self(type: 6, stream: stream, payload: Array(repeating: 0, count: 8)) }
}
