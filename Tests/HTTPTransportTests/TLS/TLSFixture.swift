@testable import HTTPTransport

/// A certificate authority, a client that trusts it, and servers.
final class TLSFixture {
    let folder: TestFolder
    let authority = TestCertificate("authority", isAuthority: true)
    /// The file with the authority.
    let authorityFile: String
    let leaf: TestCertificate
    /// The servers, which own the sockets of both ends.
    private var servers: [ServerEnd] = []

    init(names: String = "DNS:a.example,DNS:b.example,IP:127.0.0.1") throws {
        folder = try TestFolder()
        authorityFile = try folder.write(authority.pem, to: "ca.pem")
        leaf = TestCertificate("server", names: names, issuer: authority)
    }

    /// Returns the client's settings.
    func contexts(_ options: TLSOptions = TLSOptions(), sessionLimit: Int = TLSSessions.defaultLimit) -> TLSContexts {
        TLSContexts(
            options, authorities: CertificateAuthorities(file: authorityFile),
            sessions: TLSSessions(limit: sessionLimit))
    }

    /// Connects a client to a new server, and returns both with the failure of the handshake.
    func connect(
        _ contexts: TLSContexts, to host: String = "a.example", port: Int = 443, _ settings: ServerSettings? = nil,
        now: MonotonicInstant = .now
    ) throws -> (client: TLSConnection, server: ServerEnd, failure: TLSFailure?) {
        let server = ServerEnd(settings ?? ServerSettings(leaf))
        servers.append(server)
        let client = try contexts.connection(to: host, port: port, over: server.socket, now: now)
        return (client, server, client.handshake(with: server))
    }
}
