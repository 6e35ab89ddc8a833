import COpenSSL
import Glibc
import Testing

@testable import HTTPTransport

/// Handshakes with servers that are slow, break off, or do not speak TLS.
struct TLSHandshakeTests {
    private let fixture: TLSFixture

    init() throws { fixture = try TLSFixture() }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func handshakeSucceedsWithSingleBytes(version: Int32) throws {
        let server = ServerEnd(ServerSettings(fixture.leaf, version: version))
        server.maximumDelivery = 1
        let client = try fixture.contexts().connection(to: "a.example", port: 443, over: server.socket, now: .now)
        #expect(client.handshake(with: server) == nil)
        server.maximumDelivery = .max
        server.flush()
        server.write([1])
        #expect(client.receive().0 == [1])
    }

    @Test(
        arguments: [
            (nil, false), ("h2", true), ("http/1.1", false), ("http/1.0", nil), ("h3", nil), ("h2c", nil),
        ] as [(String?, Bool?)])
    func serverChoosesTheProtocol(name: String?, isHTTP2: Bool?) throws {
        let settings = ServerSettings(fixture.leaf, chosenProtocol: name)
        let (client, _, failure) = try fixture.connect(fixture.contexts(), settings)
        if let isHTTP2 {
            #expect(failure == nil)
            #expect(client.negotiatesHTTP2 == isHTTP2)
        } else {
            #expect(failure?.kind == .rejected)
        }
    }

    @Test(arguments: ["h2", "http/1.1"])
    func serverMustNotChooseHTTP2IfThatIsNotOffered(name: String) throws {
        let server = ServerEnd(ServerSettings(fixture.leaf, chosenProtocol: name))
        let client = try fixture.contexts().connection(
            to: "a.example", port: 443, over: server.socket, offersHTTP2: false, now: .now)
        let failure = client.handshake(with: server)
        #expect((failure == nil) == (name == "http/1.1"))
        if failure == nil { #expect(!client.negotiatesHTTP2) }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func handshakeThatBreaksOffIsNotARejection(version: Int32) throws {
        let contexts = fixture.contexts()
        let settings = ServerSettings(fixture.leaf, version: version)
        for count in [0, 1, 4, 5, 6, 100, 400] {
            let server = ServerEnd(settings)
            server.maximumDelivery = 0
            let client = try contexts.connection(to: "a.example", port: 443, over: server.socket, now: .now)
            guard case .wantsRead = client.handshake() else { throw Unexpected() }
            server.step()
            server.maximumDelivery = count
            server.deliver()
            server.closeForSending()
            // The end is found when the socket is reported again.
            if count > 0, case .wantsRead = client.handshake() {}
            guard case .failed(let failure) = client.handshake() else { throw Unexpected() }
            #expect(failure.kind == .brokenOff)
            #expect(failure.detail == "the server closed the connection during the TLS handshake")
            guard case .failed(failure) = client.handshake() else { throw Unexpected() }
            client.close()
        }
    }

    @Test func serverThatResetsTheConnectionIsNotARejection() throws {
        let server = ServerEnd(ServerSettings(fixture.leaf))
        let client = try fixture.contexts().connection(to: "a.example", port: 443, over: server.socket, now: .now)
        server.close()
        guard case .failed(let failure) = client.handshake() else { throw Unexpected() }
        #expect(failure == TLSFailure(kind: .brokenOff, detail: "Broken pipe"))
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n"])
    func serverWithoutTLSIsRejected(answer: String) throws {
        let server = ServerEnd(ServerSettings(fixture.leaf))
        let client = try fixture.contexts().connection(to: "a.example", port: 443, over: server.socket, now: .now)
        guard case .wantsRead = client.handshake() else { throw Unexpected() }
        server.deliver(plain: Array(answer.utf8))
        guard case .failed(let failure) = client.handshake() else { throw Unexpected() }
        #expect(failure == TLSFailure(kind: .rejected, detail: "the server does not answer in TLS"))
    }

    @Test func modifiedHandshakesFail() throws {
        let contexts = fixture.contexts()
        let settings = ServerSettings(fixture.leaf)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let server = ServerEnd(settings)
            server.maximumDelivery = 0
            let client = try contexts.connection(to: "a.example", port: 443, over: server.socket, now: .now)
            guard case .wantsRead = client.handshake() else { throw Unexpected() }
            server.step()
            let index = server.outgoing.indices.randomElement(using: &generator) ?? 0
            server.outgoing[index] ^= UInt8.random(in: 1...255, using: &generator)
            server.maximumDelivery = .max
            server.deliver()
            server.closeForSending()
            // The tickets can be the part that was modified.
            guard case .failed = client.handshake() else {
                _ = client.receive()
                #expect(client.failure != nil, "\(index)")
                continue
            }
        }
    }
}
