import COpenSSL
import Foundation
import Testing

@testable import HTTPTransport

/// Client certificates.
struct TLSClientCertificateTests {
    private let fixture: TLSFixture
    private let client: TestCertificate
    private let certificateFile: String
    private let keyFile: String

    init() throws {
        fixture = try TLSFixture()
        client = TestCertificate("client", issuer: fixture.authority)
        certificateFile = try fixture.folder.write(client.pem, to: "client.pem")
        keyFile = try fixture.folder.write(client.keyPEM(), to: "client.key")
    }

    private func options(_ certificate: ClientCertificate) -> TLSOptions {
        TLSOptions(clientCertificates: ["a.example": certificate])
    }

    private func settings(_ version: Int32? = nil) -> ServerSettings {
        ServerSettings(fixture.leaf, version: version, clientAuthority: fixture.authority)
    }

    /// Returns the failure of a handshake, or of the read after it.
    private func failure(
        _ contexts: TLSContexts, to host: String = "a.example", _ settings: ServerSettings
    ) throws -> TLSFailure? {
        let (client, _, failure) = try fixture.connect(contexts, to: host, settings)
        if let failure { return failure }
        _ = client.receive()
        return client.failure
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func certificateIsPresentedToItsHostOnly(version: Int32) throws {
        let contexts = fixture.contexts(options(.init(certificateFile: certificateFile, keyFile: keyFile)))
        #expect(try failure(contexts, settings(version)) == nil)
        let refusal = try #require(try failure(contexts, to: "b.example", settings(version)))
        #expect(refusal.kind == .rejected)
        let alert = version == TLS1_2_VERSION ? "handshake failure" : "certificate required"
        #expect(refusal.detail == "the server sent the TLS alert \(alert)")
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func certificateOfAnUnknownAuthorityIsRejectedByTheServer(version: Int32) throws {
        let stranger = TestCertificate("stranger")
        let file = try fixture.folder.write(stranger.pem + stranger.keyPEM(), to: "stranger.pem")
        let contexts = fixture.contexts(options(.init(certificateFile: file)))
        let refusal = try #require(try failure(contexts, settings(version)))
        #expect(refusal.kind == .rejected)
        #expect(refusal.detail == "the server sent the TLS alert unknown ca")
    }

    @Test func passPhraseDecryptsTheKey() throws {
        let key = try fixture.folder.write(client.keyPEM(passPhrase: "secret ü"), to: "secret.key")
        var certificate = ClientCertificate(certificateFile: certificateFile, keyFile: key, passPhrase: "secret ü")
        #expect(try failure(fixture.contexts(options(certificate)), settings()) == nil)
        for passPhrase in ["wrong", nil, "", String(repeating: "x", count: 5_000)] {
            certificate.passPhrase = passPhrase
            let contexts = fixture.contexts(options(certificate))
            let refusal = try #require(throws: TLSFailure.self) { try fixture.connect(contexts) }
            #expect(refusal.kind == .rejected)
            #expect(refusal.detail.contains("private key") && refusal.detail.contains(key), "\(refusal)")
            #expect(refusal.detail.contains("pass phrase"))
        }
    }

    @Test func unusableFilesAreNamed() throws {
        let other = try fixture.folder.write(TestCertificate("other").keyPEM(), to: "other.key")
        for (certificate, file) in [
            (ClientCertificate(certificateFile: "/nowhere/a.pem"), "/nowhere/a.pem: No such file"),
            (.init(certificateFile: certificateFile, keyFile: "/nowhere/a.key"), "/nowhere/a.key: No such file"),
            (.init(certificateFile: certificateFile), certificateFile),
            (.init(certificateFile: certificateFile, keyFile: other), "\(other): key values mismatch"),
            (.init(certificateFile: keyFile, keyFile: keyFile), keyFile),
        ] {
            let contexts = fixture.contexts(options(certificate))
            let refusal = try #require(throws: TLSFailure.self) { try fixture.connect(contexts) }
            #expect(refusal.kind == .rejected)
            #expect(refusal.detail.contains(file), "\(refusal)")
            // Another host does not need it.
            #expect(try fixture.connect(contexts, to: "b.example").failure == nil)
        }
    }

    @Test func replacedFilesAreReadAgain() throws {
        let contexts = fixture.contexts(options(.init(certificateFile: certificateFile, keyFile: keyFile)))
        let opened = try #require(OpenCount(of: certificateFile))
        for _ in 0..<3 { #expect(try failure(contexts, settings()) == nil) }
        #expect(opened.next() == 1)
        let next = TestCertificate("next", issuer: fixture.authority)
        try fixture.folder.write(next.pem, to: "client.pem")
        #expect(throws: TLSFailure.self) { try fixture.connect(contexts) }
        try fixture.folder.write(next.keyPEM(), to: "client.key")
        let server = try fixture.connect(contexts, settings()).server
        let presented = SSL_get0_peer_certificate(server.ssl)
        #expect(X509_cmp(presented, next.certificate) == 0)
    }

    @Test func contextsOfManyCertificatesAreNotKept() throws {
        var certificates: [HostPattern: ClientCertificate] = [:]
        for number in 0..<40 {
            let file = try fixture.folder.write(client.pem + client.keyPEM(), to: "\(number).pem")
            certificates[try #require(HostPattern("\(number).example"))] = ClientCertificate(certificateFile: file)
        }
        let contexts = fixture.contexts(TLSOptions(clientCertificates: certificates))
        for number in 0..<40 {
            _ = try fixture.connect(contexts, to: "\(number).example")
        }
        #expect(contexts.contextCount == 16)
    }
}
