import Foundation
import HTTPTransport

/// nginx with TLS on 127.0.0.1, with a certificate authority of its own: HTTP/2 on one port, HTTP/1.1 on another.
///
/// Serves `/small`, 1,000 bytes, and `/big`, 8 MiB, and tells in `X-Connection` which connection it was.
final class SecureServer {
    static let small = pattern(1_000)
    static let big = pattern(8 << 20)

    let directory: URL
    let port: Int
    let portOfHTTP1: Int
    private let process = Process()

    /// Whether what it takes is installed.
    static var isAvailable: Bool { executable("nginx") != nil && executable("openssl") != nil }

    /// The authority to trust.
    var certificateAuthorityFile: String { directory.appendingPathComponent("ca.pem").path }

    /// Starts the server and returns when it answers.
    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("secure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(Self.small).write(to: directory.appendingPathComponent("small"))
        try Data(Self.big).write(to: directory.appendingPathComponent("big"))
        try Self.makeCertificates(in: directory)
        port = try freePort()
        portOfHTTP1 = try freePort()
        try configuration.write(
            to: directory.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
        process.executableURL = Self.executable("nginx")
        process.arguments = ["-c", directory.appendingPathComponent("nginx.conf").path, "-e", "stderr"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        let transport = CurlTransport(
            configuration: .init(proxy: .none, certificateAuthorityFile: certificateAuthorityFile))
        for port in [port, portOfHTTP1] {
            while process.isRunning, try await !transport.fetch("https://127.0.0.1:\(port)/small").isComplete {
                await Task.yield()
            }
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    private var configuration: String {
        let path = directory.path
        return """
            daemon off; master_process off; pid \(path)/pid; error_log stderr crit;
            events { worker_connections 1000; }
            http {
                access_log off; root \(path); keepalive_requests 1000000;
                client_body_temp_path \(path)/1; proxy_temp_path \(path)/2; fastcgi_temp_path \(path)/3;
                uwsgi_temp_path \(path)/4; scgi_temp_path \(path)/5;
                ssl_certificate \(path)/server.pem; ssl_certificate_key \(path)/server.key;
                add_header X-Connection $connection;
                server { listen 127.0.0.1:\(port) ssl http2; }
                server { listen 127.0.0.1:\(portOfHTTP1) ssl; }
            }
            """
    }

    private static func makeCertificates(in directory: URL) throws {
        try "subjectAltName=IP:127.0.0.1".write(
            to: directory.appendingPathComponent("names"), atomically: true, encoding: .utf8)
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try openssl(
            ["req", "-x509", "-subj", "/CN=authority", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem"] + key,
            in: directory)
        try openssl(["req", "-new", "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"] + key, in: directory)
        try openssl(
            [
                "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "names", "-out", "server.pem",
            ], in: directory)
    }

    private static func openssl(_ arguments: [String], in directory: URL) throws {
        let process = Process()
        process.executableURL = executable("openssl")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
    }

    private static func executable(_ name: String) -> URL? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { URL(fileURLWithPath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
