import Foundation
import HTTPTransport
import TestSupport

/// `openssl s_server` on 127.0.0.1, which accepts only clients whose certificate was signed by the authority of a
/// ``SecureServer``; nginx would reject others with a status.
final class ClientCheckServer {
    let port: Int
    private let process: pid_t

    /// Starts the server and returns when it answers.
    init(of server: SecureServer) async throws {
        port = try freePort()
        // With TLS 1.2 the answer to a missing certificate is part of the handshake.
        process = try Programs.start(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:\(port)", "-tls1_2", "-cert", server.path("server.pem")]
                + ["-key", server.path("server.key"), "-CAfile", server.certificateAuthorityFile, "-Verify", "1"]
                + ["-verify_return_error", "-www", "-quiet"])
        let certificate = ClientCertificate(
            certificateFile: server.path("client.pem"), keyFile: server.path("client.key"))
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none,
                tls: .init(
                    certificateAuthorityFile: server.certificateAuthorityFile,
                    clientCertificates: ["127.0.0.1": certificate])))
        let deadline = ContinuousClock.now + .seconds(20)
        while try await !transport.fetch("https://127.0.0.1:\(port)/").isComplete {
            guard ContinuousClock.now < deadline else { throw Programs.Failure(description: "openssl does not answer") }
            await Task.yield()
        }
    }

    deinit { Programs.end(process) }
}
