import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

/// Transfers that share connections.
@Suite(.timeLimit(.minutes(1)))
struct SharedConnectionTests {
    @Test func transfersWaitForTheFirstConnectionAndShareIt() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(accepted: { $0.isStalled = true }) { connection, stream, _ in
            connection.respond(stream, body: [1])
        }
        let recorders = try fixture.start(100, server.url("/a"))
        await server.wait { $0.accepted == 1 }
        #expect(await fixture.transport.transferCount == 100)
        server.perform { server in
            server.connections[0].isStalled = false
            server.connections[0].step()
        }
        var metrics: [TransferMetrics] = []
        for recorder in recorders {
            let record = await recorder.end()
            #expect(record.body == [1])
            if let own = record.metrics { metrics.append(own) }
        }
        #expect(server.record.value.accepted == 1)
        #expect(metrics.count == 100 && metrics.allSatisfy { $0.protocolName == "HTTP/2" })
        let first = metrics.filter { !$0.reusedConnection }
        #expect(first.count == 1)
        for own in first {
            #expect(own.connectDuration > .zero && own.tlsDuration >= own.connectDuration)
            #expect(own.timeToFirstByte >= own.tlsDuration && own.totalDuration >= own.timeToFirstByte)
        }
        for own in metrics where own.reusedConnection {
            #expect(own.connectDuration == .zero && own.tlsDuration == .zero && own.timeToFirstByte > .zero)
        }
    }

    @Test func anotherTransferConnectsIfTheFirstIsCanceledDuringTheHandshake() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(accepted: { $0.isStalled = $0.number == 0 }) { connection, stream, _ in
            connection.respond(stream, body: [1])
        }
        let canceled = Recorder()
        let transfer = try fixture.transport.start(server.url("/a"), canceled)
        let recorders = try fixture.start(20, server.url("/a"))
        await server.wait { $0.accepted == 1 }
        transfer.cancel()
        #expect(await canceled.end().error?.reason == .cancelled)
        for recorder in recorders { #expect(await recorder.end().body == [1]) }
        #expect(server.record.value.accepted == 2)
    }

    @Test func deadlinesPassWhileTransfersWaitForTheFirstConnection() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(accepted: { $0.isStalled = $0.number == 0 }) { connection, stream, _ in
            connection.respond(stream, body: [1])
        }
        let first = try fixture.start(1, server.url("/a"))
        await server.wait { $0.accepted == 1 }
        for recorder in try fixture.start(5, server.url("/a"), { $0.deadlines.connect = .milliseconds(50) }) {
            #expect(await recorder.end().error?.reason == .timedOut(.connect))
        }
        for recorder in try fixture.start(5, server.url("/a"), { $0.deadlines.total = .milliseconds(50) }) {
            #expect(await recorder.end().error?.reason == .timedOut(.total))
        }
        server.perform { server in server.connections[0].close() }
        #expect(await first[0].end().error?.reason == .connectionFailed)
        #expect(try await fixture.transport.fetch(server.url("/a")).body == [1])
    }

    @Test func connectDeadlineIncludesTheHandshake() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(accepted: { $0.isStalled = $0.number == 0 }) { connection, stream, _ in
            connection.respond(stream, body: [1])
        }
        let record = try await fixture.transport.fetch(server.url("/a")) { $0.deadlines.connect = .milliseconds(100) }
        #expect(record.error?.reason == .timedOut(.connect))
        #expect(try await fixture.transport.fetch(server.url("/a")).body == [1])
    }

    /// The server does not answer even with its settings.
    @Test func serverWithoutSettingsIsGivenUpAfterTheDeadline() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server(accepted: { $0.isMuted = true }) { _, _, _ in }
        for recorder in try fixture.start(3, server.url("/a"), { $0.deadlines.total = .milliseconds(200) }) {
            #expect(await recorder.end().error?.reason == .timedOut(.total))
        }
        #expect(await fixture.transport.transferCount == 0)
    }

    @Test func pausedTransfersHoldOneWindowEachAndDoNotDelayOthers() async throws {
        let fixture = try SharedFixture()
        let size = 4 << 20
        let server = try fixture.server { connection, stream, path in
            connection.respond(stream, body: path == "/a" ? [1] : pattern(size))
        }
        // The client's settings, with its windows, have arrived then.
        #expect(try await fixture.transport.fetch(server.url("/a")).isComplete)
        let paused = (0..<20).map { _ in Recorder { received, _ in received > 0 ? .pause : .more } }
        let transfers = try paused.map { try fixture.transport.start(server.url("/big"), $0) }
        for recorder in paused { await recorder.wait { $0.pauses == 1 } }
        for _ in 0..<3 { #expect(try await fixture.transport.fetch(server.url("/more")).body == pattern(size)) }
        let sent = Awaited<[Int]>([])
        server.perform { server in
            let held = server.record.value.requests.filter { $0.path == "/big" }
            sent.update { $0 = held.map { server.connections[0].peer.sentCount(of: $0.stream) } }
        }
        await sent.wait { !$0.isEmpty }
        #expect(sent.value.count == 20 && sent.value.allSatisfy { $0 <= 2 << 20 })
        for (recorder, transfer) in zip(paused, transfers) {
            recorder.takeAll()
            transfer.resume()
        }
        for recorder in paused { #expect(await recorder.end().body == pattern(size)) }
        #expect(server.record.value.accepted == 1)
    }

    @Test func canceledTransferEndsItsStreamAndOthersContinue() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, path in
            if path == "/a" { connection.respond(stream, body: pattern(3 << 20)) }
        }
        let canceled = Recorder()
        let transfer = try fixture.transport.start(server.url("/held"), canceled)
        let recorders = try fixture.start(5, server.url("/a"))
        await server.wait { $0.count(of: "/held") == 1 }
        transfer.cancel()
        #expect(await canceled.end().error?.reason == .cancelled)
        await server.wait { !$0.resets.isEmpty }
        #expect(Array(server.record.value.resets.values) == [8])
        for recorder in recorders { #expect(await recorder.end().body == pattern(3 << 20)) }
        #expect(server.record.value.accepted == 1)
    }

    /// Their certificates name both.
    @Test func originsOnOneAddressDoNotShareConnections() async throws {
        let fixture = try SharedFixture()
        let server = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        for host in ["a.example", "b.example", "a.example", "127.0.0.1"] {
            #expect(try await fixture.transport.fetch(server.url("/a", host: host)).body == [1])
        }
        let requests = server.record.value.requests
        #expect(requests.map(\.connection) == [0, 1, 0, 2])
        #expect(requests.map { $0.fields[":authority"] }.last == "127.0.0.1:\(server.port)")
    }

    @Test(arguments: [2, 3, 4])
    func transfersOfSeveralThreadsShareOneConnectionInTheEnd(threadCount: Int) async throws {
        let fixture = try SharedFixture(threadCount: threadCount)
        let server = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        for _ in 0..<2 {
            for recorder in try fixture.start(100, server.url("/a")) { #expect(await recorder.end().body == [1]) }
        }
        let known = server.record.value.requests.count
        for recorder in try fixture.start(100, server.url("/a")) { #expect(await recorder.end().body == [1]) }
        #expect(Set(server.record.value.requests.dropFirst(known).map(\.connection)).count == 1)
    }

    @Test func addressThatThePolicyRefusesIsNotConnectedTo() async throws {
        let fixture = try SharedFixture(policy: .publicInternetOnly)
        let server = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        for host in ["a.example", "127.0.0.1"] {
            for recorder in try fixture.start(3, server.url("/a", host: host)) {
                guard case .refusedByPolicy = await recorder.end().error?.reason else {
                    Issue.record("not refused")
                    continue
                }
            }
        }
        #expect(server.record.value.accepted == 0)
    }

    /// The first one fails in the turn in which the others begin to wait for it, after which nothing else happens.
    @Test func transfersDoNotWaitForOneWhoseAddressesAreRefused() async throws {
        let policy = NetworkPolicy(addresses: [.deny("127.0.0.0/8")])
        let fixture = try SharedFixture(policy: policy)
        let server = try fixture.server { connection, stream, _ in connection.respond(stream, body: [1]) }
        for recorder in try fixture.start(20, server.url("/a", host: "a.example")) {
            guard case .refusedByPolicy = await recorder.end().error?.reason else {
                Issue.record("not refused")
                continue
            }
        }
        #expect(server.record.value.accepted == 0 && server.record.value.requests.isEmpty)
    }
}
