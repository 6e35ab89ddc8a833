/// The address of an HTTP server that serves the files of a folder and its status.
///
/// The path `/NAME`, with any query, is the file NAME; `/at/RATE/NAME` is the same file at RATE bytes per second. The
/// status is at `/status`.
struct Origin: Codable, Hashable, Sendable {
    let port: UInt16

    func url(_ name: String) -> String {
        "http://127.0.0.1:\(port)/\(name)"
    }

    func url(_ name: String, bytesPerSecond rate: Int) -> String {
        url("at/\(rate)/\(name)")
    }

    /// Runs `body` while nginx, or `LoopbackOrigin` if nginx is not installed, serves `folder`.
    static func serving<Result: Sendable>(
        _ folder: FixtureFolder, _ body: (Origin) async throws -> Result
    ) async throws -> Result {
        if let nginx = NginxOrigin.executable() {
            return try await NginxOrigin.serving(folder, nginx: nginx, body)
        }
        return try await LoopbackOriginProcess.serving(folder, body)
    }
}

/// The error when an origin cannot be started or used.
struct OriginError: Error, CustomStringConvertible {
    let description: String
}
