import Foundation
import Glibc
import TestSupport
import Threading

/// An HTTP/2 server on 127.0.0.1 that sends endless empty frames on every connection, as fast as the client reads them.
///
/// openssl handles TLS, and reads the frames from a FIFO.
final class FloodingServer: Sendable {
    let port: Int
    private let folder: NginxServer
    private let process = Locked<pid_t?>(nil)
    /// The authority to trust.
    let certificateAuthorityFile: String

    /// The maximum number of bytes that are sent, so that a client that reads everything fails its test eventually.
    private static let maximumBytes = 2 << 30

    /// Starts the server; a client may connect at once.
    init() async throws {
        folder = try NginxServer()
        port = folder.ports[0]
        let authority = try CertificateAuthority(for: folder)
        try authority.makeKey("server")
        try authority.sign("server", key: "server")
        certificateAuthorityFile = authority.file
        let deadline = ContinuousClock.now + .seconds(20)
        var started = try launch()
        while !isListening, !Task.isCancelled {
            if Programs.hasEnded(started) {
                process.withLock { $0 = nil }
                // Another process may have used the port since it was found free.
                started = try launch()
            }
            guard ContinuousClock.now < deadline else { throw Programs.Failure(description: "openssl does not listen") }
            await Task.yield()
        }
    }

    private func launch() throws -> pid_t {
        let pipe = folder.path("frames")
        unlink(pipe)
        guard mkfifo(pipe, 0o600) == 0 else { throw Programs.Failure(description: "mkfifo: \(errno)") }
        // Its standard input must be open before it listens, or the first client would find none.
        try startThread(named: "flood") { Self.write(to: pipe) }
        let command =
            "exec openssl s_server -quiet -alpn h2 -accept 127.0.0.1:\(port) -cert '\(folder.path("server.pem"))'"
            + " -key '\(folder.path("server.key"))' < '\(pipe)'"
        let started = try Programs.start("sh", ["-c", command])
        process.withLock { $0 = started }
        return started
    }

    /// A Boolean value that indicates whether the server listens, determined without a connection: the server sends the
    /// beginning of its frames to the first client.
    private var isListening: Bool {
        let address = "0100007F:" + String(format: "%04X", port) + " 00000000:0000 0A "
        // Foundation reads only the first 4 KiB of this file, which many listening sockets fill.
        guard let sockets = fopen("/proc/net/tcp", "r") else { return false }
        defer { fclose(sockets) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), sockets) != nil {
            if strstr(line, address) != nil { return true }
        }
        return false
    }

    deinit { if let running = process.withLock({ $0 }) { Programs.end(running) } }

    /// Writes a SETTINGS frame without settings, then frames of an unknown type, which must be ignored.
    private static func write(to pipe: String) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let frames = Array(repeating: [0, 0, 0, 0x55, 0, 0, 0, 0, 0] as [UInt8], count: 7_000).flatMap(\.self)
        guard Glibc.write(descriptor, settings, settings.count) == settings.count else { return }
        for _ in 0..<(maximumBytes / frames.count) {
            // The call writes everything, or fails once the client no longer reads.
            let written = frames.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written == frames.count else { return }
        }
    }
}
