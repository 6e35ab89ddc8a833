import COpenSSL
import Glibc
import Testing

@testable import HTTPTransport

/// Servers that send without end, and nothing for the application.
struct TLSFloodTests {
    private let fixture: TLSFixture

    init() throws { fixture = try TLSFixture() }

    /// Reads what `send` sends again and again; returns the failure and the number of rounds.
    private func flood(
        _ version: Int32 = TLS1_3_VERSION, rounds: Int = 20_000, read: (TLSConnection) -> Bool,
        send: (ServerEnd) -> Void
    ) throws -> (failure: TLSFailure?, rounds: Int) {
        let (client, server, failure) = try fixture.connect(
            fixture.contexts(), ServerSettings(fixture.leaf, version: version))
        #expect(failure == nil)
        for round in 0..<rounds {
            send(server)
            guard read(client) else { return (client.failure, round) }
        }
        return (nil, rounds)
    }

    private func receivesNothing(_ client: TLSConnection) -> Bool {
        if case .wouldBlock = client.receive().1 { true } else { false }
    }

    @Test func endlessSessionsEndTheConnection() throws {
        for read in [receivesNothing, \.isSilent] {
            let (failure, rounds) = try flood(read: read) { $0.sendTicket() }
            #expect(failure?.kind == .endlessData)
            #expect(rounds > 500)
        }
    }

    @Test(arguments: [true, false])
    func endlessKeysEndTheConnection(requests: Bool) throws {
        for read in [receivesNothing, \.isSilent] {
            let (failure, rounds) = try flood(read: read) { server in
                server.updateKey(requests: requests)
                server.step()
            }
            #expect(failure?.kind == .endlessData || failure?.detail == "too many key updates", "\(failure as Any)")
            #expect(rounds >= 30)
        }
    }

    @Test func requestsForKeysAreNotAnsweredWithoutEnd() throws {
        // The server does not read the answers.
        let (failure, _) = try flood(read: receivesNothing) { $0.updateKey(requests: true) }
        #expect(failure?.kind == .endlessData || failure?.detail == "too many key updates", "\(failure as Any)")
    }

    @Test func endlessRenegotiationEndsTheConnection() throws {
        let (failure, rounds) = try flood(TLS1_2_VERSION, read: receivesNothing) { server in
            server.requestRenegotiation()
            server.step()
        }
        #expect(failure != nil)
        #expect(rounds < 20_000)
    }

    @Test func sessionsBetweenBytesAreAccepted() throws {
        let (failure, rounds) = try flood(rounds: 3_000) { client in
            client.receive().0 == [1]
        } send: { server in
            server.sendTicket()
            server.write([1])
        }
        #expect(failure == nil)
        #expect(rounds == 3_000)
    }

    @Test func oneTurnReadsALimitedNumberOfBytes() throws {
        let (client, server, _) = try fixture.connect(fixture.contexts())
        var size: Int32 = 4 << 20
        setsockopt(server.socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(4))
        var sent = 0
        while server.outgoing.isEmpty, sent < 64 {
            server.write([UInt8](repeating: 7, count: 16_384))
            sent += 1
        }
        var received = 0
        while received < sent * 16_384 {
            switch client.receive(4 << 20).1 {
            case .count(let count):
                #expect(count <= RawSocket.maximumTurn)
                received += count
            case .wouldBlock: server.deliver()
            case .failed: throw Unexpected()
            }
        }
    }

    /// Returns a client that is connected to a server with forged records.
    private func forge() throws -> (TLSConnection, RecordForge) {
        let forge = RecordForge(fixture.leaf)
        let client = try fixture.contexts().connection(
            to: "a.example", port: 443, over: forge.server.socket, now: .now)
        #expect(client.handshake(with: forge.server) == nil)
        forge.deliver(23, [1, 2], padding: 100)
        #expect(client.receive().0 == [1, 2])
        return (client, forge)
    }

    @Test(arguments: [0, 16_000])
    func endlessEmptyRecordsEndTheConnection(padding: Int) throws {
        for read in [receivesNothing, \.isSilent] {
            let (client, forge) = try forge()
            var rounds = 0
            while rounds < 1_000 {
                forge.deliver(23, padding: padding)
                guard read(client) else { break }
                rounds += 1
            }
            #expect(client.failure != nil)
            #expect(rounds < 100)
        }
    }

    @Test func emptyRecordsBetweenBytesAreAccepted() throws {
        let (client, forge) = try forge()
        for round in 0..<1_000 {
            forge.deliver(23)
            forge.deliver(23, [UInt8(truncatingIfNeeded: round)])
            #expect(client.receive().0 == [UInt8(truncatingIfNeeded: round)])
        }
    }

    /// Alerts that change nothing, unknown alerts, and records of types that do not belong there.
    @Test(
        arguments: [(21, [1, 90]), (21, [1, 200]), (20, [1]), (24, [1]), (99, [1]), (22, [99, 0, 0, 0])]
            as [(UInt8, [UInt8])])
    func recordsWithoutPurposeEndTheConnection(type: UInt8, content: [UInt8]) throws {
        let (client, forge) = try forge()
        var rounds = 0
        while rounds < 1_000 {
            forge.deliver(type, content)
            guard receivesNothing(client) else { break }
            rounds += 1
        }
        #expect(client.failure != nil)
        #expect(rounds < 100)
    }

    /// The first bytes of a message that never ends, or that is announced to be large.
    @Test(arguments: [4, 24] as [UInt8])
    func endlessMessagesEndTheConnection(message: UInt8) throws {
        let (client, forge) = try forge()
        forge.deliver(22, [message, 0xFF, 0xFF, 0xFF])
        var rounds = 0
        while rounds < 1_000 {
            guard receivesNothing(client) else { break }
            forge.deliver(22, [UInt8](repeating: 0, count: 1_000))
            rounds += 1
        }
        #expect(client.failure != nil)
        #expect(rounds < 300)
    }
}
