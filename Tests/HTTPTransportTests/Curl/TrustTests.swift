import CCurl
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import HTTPTransport

@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct TrustTests {
    private func transport(_ tls: TLSOptions) -> CurlTransport {
        CurlTransport(configuration: .init(proxy: .none, tls: tls))
    }

    /// Expects that a fetch of `url` fails because the connection is not secure, with an error that contains `words`.
    private func expectInsecure(_ transport: CurlTransport, _ url: String, _ words: String) async throws {
        let error = try #require(try await transport.fetch(url).error)
        #expect(error.reason == .tlsFailure)
        #expect(!error.isRetryable)
        #expect(error.description.contains(words), "\(error)")
    }

    @Test func certificatesOfTheWrongKindAreNotTrusted() async throws {
        let server = try await SecureServer()
        let transport = transport(TLSOptions(certificateAuthorityFile: server.certificateAuthorityFile))
        try await expectInsecure(
            transport, "https://127.0.0.1:\(server.port(of: .expired))/small", "certificate has expired")
        try await expectInsecure(
            transport, "https://127.0.0.1:\(server.port(of: .selfSigned))/small", "self-signed certificate")
        try await expectInsecure(
            transport, "https://localhost:\(server.port)/small", "for other hosts, not for 'localhost'")
    }

    @Test func minimumTLSVersionIsEnforced() async throws {
        let server = try await SecureServer()
        let url = "https://127.0.0.1:\(server.port(of: .tls12))/small"
        var options = TLSOptions(certificateAuthorityFile: server.certificateAuthorityFile)
        #expect(try await transport(options).fetch(url).isComplete)
        options.minimumVersion = .tls13
        #expect(try await transport(options).fetch("https://127.0.0.1:\(server.port)/small").isComplete)
        try await expectInsecure(transport(options), url, "protocol version")
    }

    @Test func onlyPinnedKeysAreTrusted() async throws {
        let server = try await SecureServer()
        let url = "https://127.0.0.1:\(server.port)/small"
        let right = try #require(try server.pin())
        let wrong: PublicKeyPin = "sha256//RkzHQyAY9tp3DRm9gt5sIe0YhLfMvDrvVBwtIEZ/M+g="
        var options = TLSOptions(certificateAuthorityFile: server.certificateAuthorityFile)
        options.publicKeyPins = ["127.0.0.1": [wrong, right], "example.org": [wrong]]
        #expect(try await transport(options).fetch(url).body == SecureServer.small)
        options.publicKeyPins = ["127.0.0.1": [wrong]]
        try await expectInsecure(transport(options), url, "public key does not match the pins")
        options.publicKeyPins = ["127.0.0.1": [right]]
        options.certificateAuthorityFile = nil
        try await expectInsecure(transport(options), url, "certificate")
        options.publicKeyPins = ["127.0.0.1": [wrong]]
        options.hostsWithoutVerification = ["127.0.0.1"]
        try await expectInsecure(transport(options), url, "public key does not match the pins")
    }

    @Test func onlyNamedHostsMayBeInsecure() async throws {
        let server = try await SecureServer()
        let transport = transport(TLSOptions(hostsWithoutVerification: ["localhost"]))
        try await withLoopbackOrigin { (origin) async throws in
            for port in [server.port, server.portOfHTTP1, server.port(of: .expired), server.port(of: .selfSigned)] {
                origin.route("/named", .redirect(to: "https://localhost:\(port)/small"))
                origin.route("/other", .redirect(to: "https://127.0.0.1:\(port)/small"))
                for round in 0..<2 {
                    // One handle serves them all, one after the other, and connections are kept.
                    let record = try await transport.fetch(origin.url("/named"))
                    #expect(record.body == SecureServer.small)
                    #expect(record.metrics?.reusedConnection == (round > 0))
                    try await expectInsecure(transport, origin.url("/other"), "certificate")
                }
            }
        }
    }

    @Test func connectionsWithOtherTLSSettingsAreNotReused() async throws {
        let server = try await SecureServer()
        let easy = try CurlEasy(.init(proxy: .none))
        try easy.set(CURLOPT_URL, "https://127.0.0.1:\(server.portOfHTTP1)/small")
        try easy.set(CURLOPT_PROXY, "")
        try easy.set(HTTPRequest.Method.head)
        func result(_ options: TLSOptions) throws -> CURLcode {
            try easy.set(options.settings(for: "127.0.0.1"))
            return curl_easy_perform(easy.handle)
        }
        #expect(try result(TLSOptions(hostsWithoutVerification: ["127.0.0.1"])) == CURLE_OK)
        #expect(try result(TLSOptions(hostsWithoutVerification: ["127.0.0.1"])) == CURLE_OK)
        #expect(easy.long(CURLINFO_NUM_CONNECTS) == 0)
        #expect(try result(TLSOptions()) == CURLE_PEER_FAILED_VERIFICATION)
        let wrong: PublicKeyPin = "sha256//RkzHQyAY9tp3DRm9gt5sIe0YhLfMvDrvVBwtIEZ/M+g="
        let pinned = TLSOptions(publicKeyPins: ["127.0.0.1": [wrong]], hostsWithoutVerification: ["127.0.0.1"])
        #expect(try result(pinned) == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
        #expect(try result(TLSOptions(hostsWithoutVerification: ["127.0.0.1"])) == CURLE_OK)
    }

    /// A parse takes 40 ms of processor time with the authorities of a Linux system, on the transport's thread.
    @Test func certificateAuthoritiesAreReadOnceForAllConnections() async throws {
        let server = try await SecureServer()
        let file = server.certificateAuthorityFile
        let opened = try #require(OpenCount(of: file))
        var options = TLSOptions(certificateAuthorityFile: file)
        options.clientCertificates = [
            "127.0.0.1": .init(certificateFile: server.path("client.pem"), keyFile: server.path("client.key"))
        ]
        options.hostsWithoutVerification = ["localhost"]
        func fetch(_ options: TLSOptions, from hosts: [String]) async throws {
            // Each connection replaces the one to the other port.
            let transport = CurlTransport(configuration: .init(maximumIdleConnections: 1, proxy: .none, tls: options))
            for host in hosts {
                for port in [server.portOfHTTP1, server.port(of: .tls12), server.portOfHTTP1] {
                    let record = try await transport.fetch("https://\(host):\(port)/small")
                    #expect(record.metrics?.reusedConnection == false)
                    #expect(record.body == SecureServer.small)
                }
            }
        }
        try await fetch(options, from: ["localhost", "127.0.0.1", "localhost", "127.0.0.1"])
        #expect(opened.next() == 1)
        // With a folder as well.
        options.certificateAuthorityFolder = "/nonexistent"
        try await fetch(options, from: ["127.0.0.1"])
        #expect(opened.next() == 1)
    }

    @Test func clientCertificateIsPresentedOnRequest() async throws {
        let server = try await SecureServer()
        let check = try await ClientCheckServer(of: server)
        let url = "https://127.0.0.1:\(check.port)/"
        var options = TLSOptions(certificateAuthorityFile: server.certificateAuthorityFile)
        try await expectInsecure(transport(options), url, "alert handshake failure")

        var certificate = ClientCertificate(
            certificateFile: server.path("client.pem"), keyFile: server.path("client-secret.key"),
            passPhrase: "secret")
        options.clientCertificates = ["127.0.0.1": certificate]
        #expect(try await transport(options).fetch(url).isComplete)
        options.clientCertificates = ["example.org": certificate]
        try await expectInsecure(transport(options), url, "alert handshake failure")

        for passPhrase in ["wrong", nil] {
            certificate.passPhrase = passPhrase
            options.clientCertificates = ["127.0.0.1": certificate]
            try await expectInsecure(transport(options), url, "must be the certificate's, and have this pass phrase")
        }
        certificate = ClientCertificate(
            certificateFile: server.path("selfSigned.pem"), keyFile: server.path("server.key"))
        options.clientCertificates = ["127.0.0.1": certificate]
        try await expectInsecure(transport(options), url, "alert unknown ca")
        options.clientCertificates = ["127.0.0.1": ClientCertificate(certificateFile: "/nowhere/a.pem")]
        try await expectInsecure(transport(options), url, "cannot read the client certificate /nowhere/a.pem")
        options.clientCertificates = [
            "127.0.0.1": ClientCertificate(certificateFile: server.path("client.pem"), keyFile: "/nowhere/a.key")
        ]
        try await expectInsecure(transport(options), url, "client certificate from /nowhere/a.key")
    }

    @Test func requestsWithAClientCertificateDoNotFollowRedirectsToHTTP() async throws {
        let server = try await SecureServer()
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/small", LoopbackOrigin.Response(body: [1]))
            var options = TLSOptions(certificateAuthorityFile: server.certificateAuthorityFile)
            let url = "https://127.0.0.1:\(server.port)/insecure?\(origin.port)"
            #expect(try await transport(options).fetch(url).body == [1])
            options.clientCertificates = [
                "127.0.0.1": ClientCertificate(
                    certificateFile: server.path("client.pem"), keyFile: server.path("client.key"))
            ]
            let refusing = transport(options)
            let error = try #require(try await refusing.fetch(url).error)
            #expect(error.reason == .insecureRedirect)
            #expect(error.url == url)
            #expect(origin.counts.totalRequests == 1)
            #expect(
                try await refusing.fetch(url) { $0.redirectPolicy.insecureRedirects = .followed }.body == [1])
        }
    }
}
