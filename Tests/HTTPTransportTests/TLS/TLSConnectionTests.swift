import COpenSSL
import Glibc
import Testing

@testable import HTTPTransport

struct Unexpected: Error {}

/// The exchange of bytes over a connection with TLS.
struct TLSConnectionTests {
    private static let versions = [TLS1_2_VERSION, TLS1_3_VERSION]

    private func connect(_ version: Int32 = TLS1_3_VERSION) throws -> (TLSConnection, ServerEnd) {
        let fixture = try TLSFixture()
        let (client, server, failure) = try fixture.connect(
            fixture.contexts(), ServerSettings(fixture.leaf, version: version))
        #expect(failure == nil)
        return (client, server)
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) } }

    @Test(arguments: versions)
    func bytesArriveInBothDirections(version: Int32) throws {
        let (client, server) = try connect(version)
        guard case .count(5) = client.send(Array("hello".utf8).span) else { throw Unexpected() }
        server.step()
        #expect(server.received == Array("hello".utf8))
        server.write([1, 2, 3])
        #expect(client.receive().0 == [1, 2, 3])
        #expect(!client.hasReceivedBytes && client.isSilent)
        client.close()
        server.step()
        #expect(server.hasReceivedEnd)
    }

    @Test(arguments: versions, [1, 100, 16_384, 50_000, 1 << 20])
    func readsFillTheBuffer(version: Int32, size: Int) throws {
        let (client, server) = try connect(version)
        let bytes = pattern(min(size * 10, 150_000))
        server.write(bytes)
        #expect(server.outgoing.isEmpty)
        var received: [UInt8] = []
        while received.count < bytes.count {
            let (part, _) = client.receive(size)
            #expect(part.count == min(size, bytes.count - received.count))
            received += part
            // What has left the socket is not reported by it.
            if received.count < bytes.count, client.socket.isSilent { #expect(client.hasReceivedBytes) }
        }
        #expect(received == bytes)
        _ = client.receive()
        #expect(!client.hasReceivedBytes && client.isSilent)
    }

    @Test(arguments: versions)
    func recordsArriveInSingleBytes(version: Int32) throws {
        let (client, server) = try connect(version)
        server.maximumDelivery = 0
        server.write(pattern(1_000))
        server.maximumDelivery = 1
        while server.outgoing.count > 1 {
            server.deliver()
            guard case .wouldBlock = client.receive().1 else { throw Unexpected() }
            #expect(!client.hasReceivedBytes)
        }
        server.deliver()
        #expect(client.receive().0 == pattern(1_000))
    }

    @Test func bytesThatFollowTheHandshakeAtOnceAreReported() throws {
        let fixture = try TLSFixture()
        let server = ServerEnd(ServerSettings(fixture.leaf, version: TLS1_2_VERSION))
        let client = try fixture.contexts().connection(to: "a.example", port: 443, over: server.socket, now: .now)
        _ = client.handshake()
        server.step()
        _ = client.handshake()
        server.maximumDelivery = 0
        server.step()
        server.write([1, 2])
        server.maximumDelivery = .max
        server.deliver()
        guard case .complete = client.handshake() else { throw Unexpected() }
        #expect(client.socket.isSilent && client.hasReceivedBytes && !client.isSilent)
        #expect(client.receive().0 == [1, 2])
        #expect(!client.hasReceivedBytes)
    }

    @Test(arguments: versions)
    func sendingContinuesWhereItStopped(version: Int32) throws {
        let (client, server) = try connect(version)
        let bytes = pattern(3 << 20)
        var sent = 0
        var blocked = 0
        while sent < bytes.count {
            // The remainder is at another address.
            switch client.send(Array(bytes[sent...]).span) {
            case .count(let count): sent += count
            case .wouldBlock:
                blocked += 1
                server.step()
            case .failed: throw Unexpected()
            }
        }
        server.step()
        #expect(blocked > 1)
        #expect(server.received == bytes)
        guard case .count(0) = client.send([UInt8]().span) else { throw Unexpected() }
    }

    @Test(arguments: versions)
    func announcedEndIsTheEnd(version: Int32) throws {
        let (client, server) = try connect(version)
        server.write([1])
        server.announceEnd()
        #expect(client.receive().0 == [1])
        #expect(client.hasReceivedBytes && !client.isSilent)
        guard case .count(0) = client.receive().1, case .count(0) = client.receive().1 else { throw Unexpected() }
        #expect(client.failure == nil)
        // The server can still read.
        guard case .count(1) = client.send([2].span) else { throw Unexpected() }
    }

    @Test(arguments: versions)
    func endThatIsNotAnnouncedIsAFailure(version: Int32) throws {
        let (client, server) = try connect(version)
        server.write([1])
        server.closeForSending()
        #expect(client.receive().0 == [1])
        guard case .failed(ECONNRESET) = client.receive().1 else { throw Unexpected() }
        #expect(client.failure?.kind == .unannouncedEnd)
        #expect(!client.isSilent)
    }

    @Test(arguments: versions)
    func recordThatBreaksOffIsAFailure(version: Int32) throws {
        let (client, server) = try connect(version)
        server.maximumDelivery = 0
        server.write(pattern(1_000))
        server.maximumDelivery = 500
        server.deliver()
        server.closeForSending()
        // A short read does not look for more before the socket is reported again.
        _ = client.receive()
        guard case .failed(ECONNRESET) = client.receive().1 else { throw Unexpected() }
        #expect(client.failure?.kind == .unannouncedEnd)
    }

    @Test(arguments: versions)
    func modifiedRecordIsAFailure(version: Int32) throws {
        let (client, server) = try connect(version)
        server.maximumDelivery = 0
        server.write([1])
        server.outgoing[server.outgoing.count - 1] ^= 1
        server.maximumDelivery = .max
        server.deliver()
        guard case .failed(EPROTO) = client.receive().1, case .failed(EPROTO) = client.receive().1 else {
            throw Unexpected()
        }
        #expect(client.failure?.kind == .brokenOff)
        #expect(!client.isSilent)
    }

    @Test func silenceIsTheAbsenceOfBytesForTheApplication() throws {
        let (client, server) = try connect()
        #expect(client.isSilent)
        server.sendTicket()
        #expect(client.isSilent && client.socket.isSilent)
        server.updateKey(requests: true)
        #expect(client.isSilent)
        server.maximumDelivery = 3
        server.write([1])
        #expect(!client.isSilent)
        server.maximumDelivery = .max
        server.deliver()
        #expect(!client.isSilent && client.hasReceivedBytes)
        #expect(client.receive().0 == [1])
        #expect(client.isSilent)
        server.announceEnd()
        #expect(!client.isSilent)
    }

    @Test func closedConnectionIsNotUsed() throws {
        let (client, server) = try connect()
        client.close()
        client.close()
        guard case .failed = client.send([1].span), case .failed = client.receive().1,
            case .failed = client.handshake()
        else { throw Unexpected() }
        #expect(!client.isSilent && !client.hasReceivedBytes)
        server.step()
        #expect(server.hasReceivedEnd)
    }

    @Test func sendingToAClosedServerIsAFailure() throws {
        let (client, server) = try connect()
        server.close()
        guard case .failed(EPIPE) = client.send([1].span) else { throw Unexpected() }
        #expect(client.failure?.kind == .brokenOff)
    }
}
