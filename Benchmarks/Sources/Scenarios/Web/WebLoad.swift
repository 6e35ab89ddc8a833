import Engines

/// Downloads of a list of URLs by an engine that has no connections yet.
struct WebLoad: Sendable {
    let urls: [String]
    let web: WebProtocol
    let origin: TLSOrigin
    /// The limits on transfers, or `nil` for the engine's defaults.
    let limits: EngineLimits?
    /// The number of callers of an engine in this process, which each fetch one URL after another.
    let callers: Int
    /// The maximum number of transfers of the loop in C.
    let loopConcurrency: Int

    /// The number of connections that the loop in C keeps: more than the scenarios open.
    private static let loopConnections = 1_024

    /// The resources that the downloads took.
    struct Run: Sendable {
        let usage: Usage
        let peakMemory: Int?
        /// The number of bytes of all bodies, or `nil` if it is not known.
        let bodyBytes: Int?
    }

    func run(on engine: WebEngine) async throws -> Run {
        if let type = engine.type { return try await run(on: type) }
        if engine == .curlMulti { return try await runInBulk() }
        return try await TemporaryFolder.with("web") { folder in
            let batch = WebBatch(load: self, folder: folder)
            let run = try batch.command(for: engine).runForMemory(scratch: folder)
            return Run(usage: run.usage, peakMemory: run.peakMemory, bodyBytes: nil)
        }
    }

    private func run(on type: any Engine.Type) async throws -> Run {
        let options = EngineOptions(limits: limits, certificateAuthorityFile: origin.authorities)
        let (callers, usage) = try await Usage.measuring {
            try await fetch(from: type.init(options))
        }
        return Run(usage: usage, peakMemory: PeakMemory.bytes(), bodyBytes: callers.bodyBytes)
    }

    private func fetch(from engine: some Engine) async throws -> Callers {
        do {
            let result = try await Callers.fetch(urls.count, concurrency: callers, from: engine) { [urls] in urls[$0] }
            try await engine.shutdown()
            return result
        } catch {
            // Some engines must not be released without that.
            try? await engine.shutdown()
            throw error
        }
    }

    private func runInBulk() async throws -> Run {
        let options = CurlMulti.Options(
            concurrency: loopConcurrency, connections: Self.loopConnections,
            certificateAuthorityFile: origin.authorities, sharesConnections: web == .http2)
        let (result, usage) = try await Usage.measuring { try await CurlMulti(options).run(.list(urls)) }
        return Run(usage: usage, peakMemory: PeakMemory.bytes(), bodyBytes: result.byteCount)
    }
}
