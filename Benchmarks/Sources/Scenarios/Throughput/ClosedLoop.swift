import Engines

/// Callers that each fetch one URL after another until all have been fetched.
struct ClosedLoop: Sendable {
    /// The prefix of the URLs, followed by a number.
    let prefix: String
    let requests: Int
    /// The number of callers, and the maximum number of concurrent transfers.
    let concurrency: Int
    /// The certificate authorities that engines trust, or `nil` for their default.
    var authorities: String?
    /// A Boolean value that indicates whether the origin speaks HTTP/2.
    var isHTTP2 = false

    struct Run: Sendable {
        let usage: Usage
        let bodyBytes: Int
        /// The latency of every request, in nanoseconds.
        let latencies: [UInt64]
    }

    /// Warms up with a fifth of the requests, then measures, with the same connections.
    func run(on name: EngineName) async throws -> Run {
        guard let type = name.type else { return try await runInBulk(freesBodies: name == .curlMultiFreeing) }
        let limits = EngineLimits(total: concurrency, perHost: concurrency)
        let engine = try type.init(EngineOptions(limits: limits, certificateAuthorityFile: authorities))
        _ = try await fetch(warmUpRequests, "\(prefix)warm", engine)
        let (callers, usage) = try await Usage.measuring { try await fetch(requests, prefix, engine) }
        try await engine.shutdown()
        return Run(usage: usage, bodyBytes: callers.bodyBytes, latencies: callers.latencies)
    }

    private var warmUpRequests: Int { max(requests / 5, concurrency) }

    private func fetch(_ requests: Int, _ prefix: String, _ engine: some Engine) async throws -> Callers {
        try await Callers.fetch(requests, concurrency: concurrency, from: engine) { "\(prefix)\($0)" }
    }

    /// Runs the same load in a loop without separate callers.
    private func runInBulk(freesBodies: Bool) async throws -> Run {
        let loop = try CurlMulti(
            CurlMulti.Options(
                concurrency: concurrency, certificateAuthorityFile: authorities, sharesConnections: isHTTP2,
                freesBodies: freesBodies))
        _ = try await loop.run(.numbered(prefix: "\(prefix)warm", count: warmUpRequests))
        let (result, usage) = try await Usage.measuring {
            try await loop.run(.numbered(prefix: prefix, count: requests))
        }
        return Run(usage: usage, bodyBytes: result.byteCount, latencies: result.latencies)
    }
}
