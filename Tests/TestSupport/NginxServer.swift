import Foundation
import Threading

/// nginx on 127.0.0.1, with a folder and a configuration of its own: for tests that need a real server.
///
/// It can be stopped and started again on the same ports, with other settings. In `X-Connection`, it reports the
/// connection of a response.
package final class NginxServer: Sendable {
    /// The folder of its files.
    package let folder: String
    /// Free ports to listen on, as many as requested.
    package let ports: [Int]

    private let process = Locked<pid_t?>(nil)

    /// A Boolean value that indicates whether nginx, and openssl for its certificates, are installed.
    package static var isAvailable: Bool { Programs.has("nginx") && Programs.has("openssl") }

    /// Creates a server without starting it.
    package init(ports count: Int = 1) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("nginx-\(UUID().uuidString)").path
        ports = try Self.freePorts(count)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Returns the path of a file in the folder.
    package func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file in the folder; an existing one is replaced atomically.
    package func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)), options: .atomic)
    }

    /// Starts nginx with `directives` in its `http` block, and returns when it accepts connections on every port.
    package func start(_ directives: String) async throws {
        try write(Array(configuration(directives).utf8), to: "nginx.conf")
        let deadline = ContinuousClock.now + .seconds(20)
        var started = try launch()
        while !isListening(started) || !ports.allSatisfy(isAccepting) {
            if Programs.hasEnded(started) {
                process.withLock { $0 = nil }
                let log = (try? String(contentsOfFile: path("error.log"), encoding: .utf8)) ?? "its log is empty"
                // Another process may have used a port since it was found free.
                guard log.contains("Address already in use"), ContinuousClock.now < deadline else {
                    throw Programs.Failure(description: "nginx has ended: \(log)")
                }
                try write([], to: "error.log")
                started = try launch()
            }
            guard ContinuousClock.now < deadline else { throw Programs.Failure(description: "nginx does not answer") }
            await Task.yield()
        }
    }

    /// Returns whether a process has bound its ports, which nginx confirms with the file of its identifier.
    ///
    /// Otherwise, another program can accept connections there.
    private func isListening(_ process: pid_t) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path("pid"))
        // Foundation leaks memory when it reads an empty file.
        guard let size = attributes?[.size] as? Int, size > 0 else { return false }
        let text = try? String(contentsOfFile: path("pid"), encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) == "\(process)"
    }

    private func launch() throws -> pid_t {
        try? FileManager.default.removeItem(atPath: path("pid"))
        let started = try Programs.start("nginx", ["-c", path("nginx.conf"), "-e", path("error.log")])
        process.withLock { $0 = started }
        return started
    }

    /// Stops nginx at once, even in the middle of responses; its connections break off.
    package func stop() {
        let running = process.withLock { process in
            defer { process = nil }
            return process
        }
        if let running { Programs.end(running) }
    }

    private func configuration(_ directives: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        return """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error.log crit;
            events { worker_connections 1000; }
            http {
                access_log off; root \(folder); add_header X-Connection $connection;
                \(temporary.joined(separator: " "))
                \(directives)
            }
            """
    }

    private static func freePorts(_ count: Int) throws -> [Int] {
        var ports: Set<Int> = []
        while ports.count < count { ports.insert(try freePort()) }
        return Array(ports)
    }
}
