import COpenSSL
import Testing

@testable import HTTPTransport

/// The resumption of sessions.
struct TLSResumptionTests {
    private let fixture: TLSFixture

    init() throws { fixture = try TLSFixture() }

    /// Connects, and returns whether that resumed a session; keeps the session that the server makes.
    private func resumes(
        _ contexts: TLSContexts, to host: String = "a.example", port: Int = 443, _ settings: ServerSettings,
        now: MonotonicInstant = .now
    ) throws -> Bool {
        let (client, _, failure) = try fixture.connect(contexts, to: host, port: port, settings, now: now)
        #expect(failure == nil)
        #expect(client.isSilent)
        defer { client.close() }
        return client.isResumed
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [true, false])
    func sessionIsResumedByTheSameServerOnly(version: Int32, usesTickets: Bool) throws {
        let settings = ServerSettings(fixture.leaf, version: version)
        // Without tickets, the server keeps the sessions itself.
        if !usesTickets { settings.keepSessions() }
        let contexts = fixture.contexts()
        #expect(try !resumes(contexts, settings))
        #expect(try resumes(contexts, settings))
        #expect(try resumes(contexts, to: "a.example.", settings))
        #expect(try !resumes(contexts, to: "b.example", settings))
        #expect(try !resumes(contexts, to: "127.0.0.1", settings))
        #expect(try !resumes(contexts, port: 444, settings))
        #expect(try resumes(contexts, settings))
        #expect(contexts.sessions.count == 4)
        // A server that does not know it makes another.
        let stranger = ServerSettings(fixture.leaf, version: version)
        #expect(try !resumes(contexts, stranger))
        #expect(try resumes(contexts, stranger))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func sessionIsNotOfferedAfterItsLifetime(version: Int32) throws {
        let settings = ServerSettings(fixture.leaf, version: version)
        SSL_CTX_set_timeout(settings.context, 600)
        let contexts = fixture.contexts()
        #expect(try !resumes(contexts, settings))
        #expect(try !resumes(contexts, settings, now: .now + .seconds(601)))
        #expect(try resumes(contexts, settings, now: .now + .seconds(590)))
    }

    @Test func sessionsAreNotSharedBetweenSettings() throws {
        let settings = ServerSettings(fixture.leaf)
        let insecure = fixture.contexts(TLSOptions(hostsWithoutVerification: ["a.example"]))
        #expect(try !resumes(insecure, settings))
        let secure = fixture.contexts()
        secure.sessions = insecure.sessions
        // The numbers of contexts are those of a thread, whose options do not change.
        #expect(try !resumes(fixture.contexts(), settings))
    }

    @Test func sessionOfAFailedHandshakeIsRemoved() throws {
        let settings = ServerSettings(fixture.leaf)
        let contexts = fixture.contexts()
        #expect(try !resumes(contexts, settings))
        #expect(contexts.sessions.count == 1)
        let server = ServerEnd(settings)
        let client = try contexts.connection(to: "a.example", port: 443, over: server.socket, now: .now)
        guard case .wantsRead = client.handshake() else { throw Unexpected() }
        server.close()
        #expect(client.handshake(with: server)?.kind == .brokenOff)
        #expect(contexts.sessions.count == 0)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func sessionIsKeptInAFewBytes(version: Int32) throws {
        let contexts = fixture.contexts()
        #expect(try !resumes(contexts, ServerSettings(fixture.leaf, version: version)))
        #expect(contexts.sessions.count == 1)
        #expect((100...2_000).contains(contexts.sessions.byteCount))
    }
}
