import Foundation
import HTTPTransport
import TestSupport

/// nginx with TLS on 127.0.0.1, with a certificate authority of its own: HTTP/2 on one port, HTTP/1.1 on another.
///
/// Serves `/small`, 1,000 bytes, and `/big`, 8 MiB, and reports in `X-Connection` which connection it was and in
/// `X-Resumed` whether that resumed a TLS session (`r`, or `.`); `X-Protocol` is the version of HTTP. `/private` is `/small` for `me` with the password
/// `secret` (Basic), `/heard` returns the client's secrets that it received, `/407` is answered with that status,
/// `/inward` leads to a private address, and `/insecure?8080` to that port by http.
final class SecureServer {
    static let small = pattern(1_000)
    static let big = pattern(8 << 20)

    /// Servers with special TLS settings.
    enum Site: String, CaseIterable {
        /// Its certificate has expired.
        case expired
        /// Its certificate is signed by itself.
        case selfSigned
        /// It speaks TLS 1.2 only.
        case tls12
    }

    private let server: NginxServer
    /// The authority to trust.
    let certificateAuthorityFile: String
    private let ports: [Site: Int]

    /// The port for HTTP/2.
    var port: Int { server.ports[0] }
    var portOfHTTP1: Int { server.ports[1] }

    /// Starts the server and returns when it answers.
    init() async throws {
        server = try NginxServer(ports: 2 + Site.allCases.count)
        ports = Dictionary(uniqueKeysWithValues: zip(Site.allCases, server.ports.dropFirst(2)))
        for name in ["small", "private"] { try server.write(Self.small, to: name) }
        try server.write(Self.big, to: "big")
        try server.write(Array("me:{PLAIN}secret\n".utf8), to: "users")
        certificateAuthorityFile = try Self.makeCertificates(for: server)
        try await server.start(directives)
    }

    /// The port of `site`.
    func port(of site: Site) -> Int { ports[site] ?? 0 }

    /// A file of the server's: `client.pem` and its keys `client.key` and `client-secret.key`, signed by the authority;
    /// `selfSigned.pem` with `server.key`.
    func path(_ name: String) -> String { server.path(name) }

    /// The pin of the server's public key, calculated by openssl.
    func pin() throws -> PublicKeyPin? {
        try openssl("x509", "-in", path("server.pem"), "-pubkey", "-noout", "-out", path("pub.pem"))
        try openssl("pkey", "-pubin", "-in", path("pub.pem"), "-outform", "der", "-out", path("pub.der"))
        try openssl("dgst", "-sha256", "-binary", "-out", path("pub.sha"), path("pub.der"))
        return PublicKeyPin(try Data(contentsOf: URL(fileURLWithPath: path("pub.sha"))).base64EncodedString())
    }

    private var directives: String {
        let sites = ports.map { site, port in
            let lines =
                switch site {
                case .tls12: "ssl_protocols TLSv1.2;"
                case .expired, .selfSigned:
                    "ssl_certificate \(path("\(site).pem")); ssl_certificate_key \(path("server.key"));"
                }
            return "server { listen 127.0.0.1:\(port) ssl; \(lines) }"
        }
        let common = """
            add_header X-Connection $connection;
            add_header X-Resumed $ssl_session_reused;
            add_header X-Protocol $server_protocol;
            location /private { auth_basic files; auth_basic_user_file \(path("users")); }
            location /heard { return 200 "$http_proxy_authorization|$http_authorization|$http_cookie"; }
            location /407 { add_header Proxy-Authenticate "Basic realm=\\"x\\"" always; return 407; }
            location /inward { return 302 https://127.0.0.1:$server_port/small; }
            location /insecure { return 302 http://127.0.0.1:$args/small; }
            """
        return """
            keepalive_requests 1000000;
            ssl_protocols TLSv1.2 TLSv1.3;
            ssl_certificate \(path("server.pem")); ssl_certificate_key \(path("server.key"));
            server { listen 127.0.0.1:\(port) ssl http2; \(common) }
            server { listen 127.0.0.1:\(portOfHTTP1) ssl; \(common) }
            \(sites.joined(separator: "\n"))
            """
    }

    private static func makeCertificates(for server: NginxServer) throws -> String {
        let authority = try CertificateAuthority(for: server)
        for key in ["server", "client"] {
            try authority.makeKey(key)
            try authority.sign(key, key: key)
        }
        try authority.sign("expired", key: "server", days: 0)
        try openssl(
            "req", "-x509", "-subj", "/CN=self", "-days", "2", "-key", server.path("server.key"), "-out",
            server.path("selfSigned.pem"))
        try openssl(
            "pkey", "-in", server.path("client.key"), "-aes256", "-passout", "pass:secret", "-out",
            server.path("client-secret.key"))
        return authority.file
    }
}

private func openssl(_ arguments: String...) throws { try Programs.run("openssl", arguments) }
