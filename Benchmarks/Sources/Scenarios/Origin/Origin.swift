/// An HTTP server in a process of its own that serves the files of a folder, as the drivers' children see it.
///
/// `/NAME` is the file NAME, whatever the query; `/at/RATE/NAME` is the same at RATE bytes per second.
struct Origin: Codable, Hashable, Sendable {
    let port: UInt16

    func url(_ name: String) -> String {
        "http://127.0.0.1:\(port)/\(name)"
    }

    func url(_ name: String, bytesPerSecond rate: Int) -> String {
        url("at/\(rate)/\(name)")
    }

    /// Runs `body` while an origin serves `folder`: nginx, or where there is none `LoopbackOrigin`.
    static func serving<Result: Sendable>(
        _ folder: FixtureFolder, _ body: (Origin) async throws -> Result
    ) async throws -> Result {
        if let nginx = NginxOrigin.executable() {
            return try await NginxOrigin.serving(folder, nginx: nginx, body)
        }
        return try await LoopbackOriginProcess.serving(folder, body)
    }
}

/// No origin could be had.
struct OriginError: Error, CustomStringConvertible {
    let description: String
}
