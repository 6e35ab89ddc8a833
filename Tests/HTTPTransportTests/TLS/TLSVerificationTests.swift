import COpenSSL
import Foundation
import Testing

@testable import HTTPTransport

/// The verification of servers.
struct TLSVerificationTests {
    private let fixture: TLSFixture

    init() throws { fixture = try TLSFixture() }

    /// Returns the failure of a connection to `host` with a server that has this certificate.
    private func failure(
        _ certificate: TestCertificate, to host: String = "a.example", _ options: TLSOptions = TLSOptions()
    ) throws -> TLSFailure? {
        try fixture.connect(fixture.contexts(options), to: host, ServerSettings(certificate)).failure
    }

    private func expectRejected(
        _ certificate: TestCertificate, to host: String = "a.example", _ options: TLSOptions = TLSOptions(),
        saying words: String
    ) throws {
        let failure = try #require(try failure(certificate, to: host, options))
        #expect(failure.kind == .rejected)
        #expect(failure.detail.contains(words), "\(failure)")
    }

    @Test(arguments: [
        ("a.example", "DNS:a.example", true), ("a.example.", "DNS:a.example", true),
        ("A.EXAMPLE", "DNS:a.example", true), ("c.example", "DNS:a.example", false),
        ("www.a.example", "DNS:*.a.example", true), ("www.a.example.", "DNS:*.a.example", true),
        ("a.b.a.example", "DNS:*.a.example", false), ("a.example", "DNS:*.a.example", false),
        ("foo.a.example", "DNS:f*.a.example", false), ("foo.a.example", "DNS:*o.a.example", false),
        ("a.example", "DNS:*.example", false), ("foo.a.example", "DNS:foo.*.example", false),
        ("127.0.0.1", "IP:127.0.0.1", true), ("127.0.0.2", "IP:127.0.0.1", false),
        ("127.0.0.1", "DNS:127.0.0.1", false), ("127.0.0.1", "DNS:*.0.0.1", false),
        ("[::1]", "IP:::1", true), ("::1", "IP:::1", true), ("[fe80::1%251]", "IP:fe80::1", true),
        ("[2001:db8::1]", "IP:2001:DB8:0::1", true), ("[::2]", "IP:::1", false),
        ("[::ffff:127.0.0.1]", "IP:::ffff:7f00:1", true),
    ])
    func certificateMustBeForTheHost(host: String, names: String, isAccepted: Bool) throws {
        let certificate = TestCertificate("other", names: names, issuer: fixture.authority)
        let failure = try failure(certificate, to: host)
        if isAccepted {
            #expect(failure == nil)
        } else {
            #expect(failure?.kind == .rejected)
            #expect(failure?.detail.contains("for other hosts, not for '") == true, "\(failure as Any)")
        }
    }

    @Test func commonNameIsOnlyUsedWithoutAlternativeNames() throws {
        #expect(try failure(TestCertificate("a.example", issuer: fixture.authority)) == nil)
        let other = TestCertificate("a.example", names: "DNS:b.example", issuer: fixture.authority)
        try expectRejected(other, saying: "for other hosts")
        try expectRejected(
            TestCertificate("127.0.0.1", issuer: fixture.authority), to: "127.0.0.1", saying: "for other hosts")
    }

    @Test func invalidCertificatesAreDescribed() throws {
        let names = "DNS:a.example"
        try expectRejected(
            TestCertificate("x", names: names, issuer: fixture.authority, days: (-3, -1)),
            saying: "the certificate has expired")
        try expectRejected(
            TestCertificate("x", names: names, issuer: fixture.authority, days: (1, 3)), saying: "is not valid yet")
        try expectRejected(TestCertificate("x", names: names), saying: "self-signed certificate")
        let stranger = TestCertificate("stranger", isAuthority: true)
        try expectRejected(TestCertificate("x", names: names, issuer: stranger), saying: "unknown authority")
        // Signed by a certificate that is not an authority's.
        let settings = ServerSettings(TestCertificate("x", names: names, issuer: fixture.leaf))
        settings.add(fixture.leaf)
        let failure = try fixture.connect(fixture.contexts(), settings).failure
        #expect(failure?.kind == .rejected)
    }

    @Test func hostsWithoutVerificationAcceptAnyCertificate() throws {
        let options = TLSOptions(hostsWithoutVerification: ["a.example", "127.0.0.1"])
        let certificate = TestCertificate("x", names: "DNS:c.example", days: (-3, -1))
        let contexts = TLSContexts(options, authorities: CertificateAuthorities(file: "/nonexistent"))
        for host in ["a.example", "127.0.0.1"] {
            #expect(try fixture.connect(contexts, to: host, ServerSettings(certificate)).failure == nil)
        }
        try expectRejected(certificate, to: "b.example", options, saying: "self-signed")
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func onlyPinnedKeysAreAccepted(version: Int32) throws {
        let right = try #require(fixture.leaf.pin)
        let wrong = try #require(fixture.authority.pin)
        let settings = ServerSettings(fixture.leaf, version: version)
        func connect(_ options: TLSOptions, _ count: Int = 1) throws -> [TLSFailure?] {
            let contexts = fixture.contexts(options)
            return try (0..<count).map { round in
                let (client, _, failure) = try fixture.connect(contexts, settings)
                if failure == nil { #expect(client.isSilent && client.isResumed == (round > 0)) }
                return failure
            }
        }
        #expect(try connect(TLSOptions(publicKeyPins: ["a.example": [right, wrong]]), 3) == [nil, nil, nil])
        #expect(try connect(TLSOptions(publicKeyPins: ["b.example": [wrong]]), 2) == [nil, nil])
        for hosts in [[], ["a.example"]] as [Set<HostPattern>] {
            let options = TLSOptions(publicKeyPins: ["a.example": [wrong]], hostsWithoutVerification: hosts)
            for failure in try connect(options, 3) {
                #expect(failure?.kind == .rejected)
                #expect(failure?.detail.contains("public key does not match") == true)
            }
        }
    }

    @Test func minimumVersionIsRequired() throws {
        let settings = ServerSettings(fixture.leaf, version: TLS1_2_VERSION)
        #expect(try fixture.connect(fixture.contexts(), settings).failure == nil)
        let failure = try fixture.connect(fixture.contexts(TLSOptions(minimumVersion: .tls13)), settings).failure
        #expect(failure?.kind == .rejected)
        #expect(failure?.detail == "the server sent the TLS alert protocol version")
        let newest = ServerSettings(fixture.leaf, version: TLS1_3_VERSION)
        #expect(try fixture.connect(fixture.contexts(TLSOptions(minimumVersion: .tls13)), newest).failure == nil)
    }

    @Test func serverIsAskedForItsNameOnly() throws {
        for (host, name) in [("a.example.", "a.example"), ("127.0.0.1", nil), ("[::1]", nil)] as [(String, String?)] {
            let options = TLSOptions(hostsWithoutVerification: ["127.0.0.1", "[::1]"])
            let server = try fixture.connect(fixture.contexts(options), to: host).server
            let given = SSL_get_servername(server.ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
            #expect(given == name)
        }
        #expect(throws: TLSFailure.self) {
            try fixture.connect(fixture.contexts(), to: String(repeating: "a", count: 256))
        }
    }

    @Test func trustedCertificateEndsTheChainWhoeverIssuedIt() throws {
        let intermediate = TestCertificate("intermediate", issuer: fixture.authority, isAuthority: true)
        let leaf = TestCertificate("x", names: "DNS:a.example", issuer: intermediate)
        try expectRejected(leaf, saying: "unknown authority")
        let settings = ServerSettings(leaf)
        settings.add(intermediate)
        #expect(try fixture.connect(fixture.contexts(), settings).failure == nil)
        let file = try fixture.folder.write(intermediate.pem, to: "intermediate.pem")
        let contexts = TLSContexts(TLSOptions(), authorities: CertificateAuthorities(file: file))
        #expect(try fixture.connect(contexts, ServerSettings(leaf)).failure == nil)
    }

    @Test func longChainsAreRejected() throws {
        let settings = ServerSettings(fixture.leaf)
        for _ in 0..<4 { settings.add(TestCertificate("x", padding: 30_000)) }
        let failure = try #require(try fixture.connect(fixture.contexts(), settings).failure)
        #expect(failure.kind == .rejected)
        #expect(failure.detail.contains("excessive message size"), "\(failure)")
    }
}
