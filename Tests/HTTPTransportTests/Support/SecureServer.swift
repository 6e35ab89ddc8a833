import Foundation
import HTTPTransport

/// nginx with TLS on 127.0.0.1, with a certificate authority of its own: HTTP/2 on one port, HTTP/1.1 on another.
///
/// Serves `/small`, 1,000 bytes, and `/big`, 8 MiB, and tells in `X-Connection` which connection it was. `/private` is
/// `/small` for `me` with the password `secret` (Basic).
final class SecureServer {
    static let small = pattern(1_000)
    static let big = pattern(8 << 20)

    /// Servers with something about them.
    enum Site: String, CaseIterable {
        /// Its certificate has expired.
        case expired
        /// Its certificate is signed by itself.
        case selfSigned
        /// It speaks TLS 1.2 only.
        case tls12
    }

    private let directory: URL
    let port: Int
    let portOfHTTP1: Int
    private let ports: [Site: Int]
    private let process: pid_t

    /// Whether what it takes is installed.
    static var isAvailable: Bool { executable("nginx") != nil && executable("openssl") != nil }

    /// The authority to trust.
    var certificateAuthorityFile: String { directory.appendingPathComponent("ca.pem").path }

    /// The port of `site`.
    func port(of site: Site) -> Int { ports[site] ?? 0 }

    /// A file of the server's: `client.pem` and its keys `client.key` and `client-secret.key`, signed by the authority;
    /// `selfSigned.pem` with `server.key`.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// What pins the server's public key, calculated by openssl.
    func pin() throws -> PublicKeyPin? {
        try Self.openssl(["x509", "-in", path("server.pem"), "-pubkey", "-noout", "-out", path("pub.pem")])
        try Self.openssl(["pkey", "-pubin", "-in", path("pub.pem"), "-outform", "der", "-out", path("pub.der")])
        try Self.openssl(["dgst", "-sha256", "-binary", "-out", path("pub.sha"), path("pub.der")])
        return PublicKeyPin(try Data(contentsOf: URL(fileURLWithPath: path("pub.sha"))).base64EncodedString())
    }

    /// Starts the server and returns when it answers.
    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("secure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(Self.small).write(to: directory.appendingPathComponent("small"))
        try Data(Self.small).write(to: directory.appendingPathComponent("private"))
        try Data("me:{PLAIN}secret\n".utf8).write(to: directory.appendingPathComponent("users"))
        try Data(Self.big).write(to: directory.appendingPathComponent("big"))
        try Self.makeCertificates(in: directory)
        port = try freePort()
        portOfHTTP1 = try freePort()
        ports = try Dictionary(uniqueKeysWithValues: Site.allCases.map { ($0, try freePort()) })
        try Self.configuration(directory.path, port: port, portOfHTTP1: portOfHTTP1, ports).write(
            to: directory.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
        process = try Self.spawn("nginx", ["-c", "\(directory.path)/nginx.conf", "-e", "stderr"])
        let transport = CurlTransport(
            configuration: .init(proxy: .none, tls: .init(certificateAuthorityFile: certificateAuthorityFile)))
        for port in [port, portOfHTTP1] {
            let deadline = ContinuousClock.now + .seconds(20)
            while try await !transport.fetch("https://127.0.0.1:\(port)/small").isComplete {
                guard ContinuousClock.now < deadline else { throw NotRunning() }
                await Task.yield()
            }
        }
    }

    deinit {
        // The threads of the pool block the milder signals, and their children inherit that.
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        try? FileManager.default.removeItem(at: directory)
    }

    /// The server, or what it needs, could not be started.
    struct NotRunning: Error {}

    private static func configuration(_ path: String, port: Int, portOfHTTP1: Int, _ ports: [Site: Int]) -> String {
        let sites = ports.map { site, port in
            let lines =
                switch site {
                case .tls12: "ssl_protocols TLSv1.2;"
                case .expired, .selfSigned:
                    "ssl_certificate \(path)/\(site).pem; ssl_certificate_key \(path)/server.key;"
                }
            return "server { listen 127.0.0.1:\(port) ssl; \(lines) }"
        }
        let common = "location /private { auth_basic files; auth_basic_user_file \(path)/users; }"
        return """
            daemon off; master_process off; pid \(path)/pid; error_log stderr crit;
            events { worker_connections 1000; }
            http {
                access_log off; root \(path); keepalive_requests 1000000;
                client_body_temp_path \(path)/1; proxy_temp_path \(path)/2; fastcgi_temp_path \(path)/3;
                uwsgi_temp_path \(path)/4; scgi_temp_path \(path)/5;
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_certificate \(path)/server.pem; ssl_certificate_key \(path)/server.key;
                add_header X-Connection $connection;
                server { listen 127.0.0.1:\(port) ssl http2; \(common) }
                server { listen 127.0.0.1:\(portOfHTTP1) ssl; \(common) }
                \(sites.joined(separator: "\n"))
            }
            """
    }

    private static func makeCertificates(in directory: URL) throws {
        let path = directory.path
        try "subjectAltName=IP:127.0.0.1".write(toFile: "\(path)/names", atomically: true, encoding: .utf8)
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try openssl(
            ["req", "-x509", "-subj", "/CN=authority", "-days", "2", "-keyout", "\(path)/ca.key"]
                + ["-out", "\(path)/ca.pem"] + key)
        for name in ["server", "client"] {
            try openssl(
                ["req", "-new", "-subj", "/CN=\(name)", "-keyout", "\(path)/\(name).key"]
                    + ["-out", "\(path)/\(name).csr"] + key)
        }
        for (request, days, certificate) in [
            ("server", 2, "server"), ("server", 0, "expired"), ("client", 2, "client"),
        ] {
            try openssl([
                "x509", "-req", "-in", "\(path)/\(request).csr", "-CA", "\(path)/ca.pem", "-CAkey", "\(path)/ca.key",
                "-CAcreateserial", "-days", "\(days)", "-extfile", "\(path)/names", "-out",
                "\(path)/\(certificate).pem",
            ])
        }
        try openssl(
            ["req", "-x509", "-subj", "/CN=self", "-days", "2", "-key", "\(path)/server.key"]
                + ["-out", "\(path)/selfSigned.pem"])
        try openssl(
            ["pkey", "-in", "\(path)/client.key", "-aes256", "-passout", "pass:secret"]
                + ["-out", "\(path)/client-secret.key"])
    }

    private static func openssl(_ arguments: [String]) throws {
        var status: Int32 = 0
        let process = try spawn("openssl", arguments)
        guard waitpid(process, &status, 0) == process, status == 0 else { throw NotRunning() }
    }

    /// Starts a program without a word from it.
    ///
    /// Foundation's `Process` waits on threads the tests need.
    static func spawn(_ name: String, _ arguments: [String]) throws -> pid_t {
        guard let program = executable(name)?.path else { throw NotRunning() }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        let words = ([program] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, &actions, nil, words + [nil], [nil]) == 0 else { throw NotRunning() }
        return process
    }

    private static func executable(_ name: String) -> URL? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { URL(fileURLWithPath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
