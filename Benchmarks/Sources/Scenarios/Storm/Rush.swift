import Engines

/// Callers that all start at the same time, spread evenly over the URLs.
struct Rush: Sendable {
    /// The prefix of URLs that are not measured, followed by a number.
    let warmUpPrefix: String
    /// The prefix of the measured URLs, followed by a number.
    let prefix: String
    let urls: Int
    let callers: Int

    struct Run: Sendable {
        let usage: Usage
        let bodyBytes: Int
        let warmUpRequests: Int
    }

    func run(on name: EngineName) async throws -> Run {
        guard let type = name.type else { return try await runInBulk() }
        guard let type = type as? any SharingEngine.Type else {
            throw Unable(engine: name.rawValue, task: "share downloads")
        }
        return try await run(on: type)
    }

    private func run(on type: (some SharingEngine).Type) async throws -> Run {
        let engine = try type.init(concurrency: urls)
        _ = try await bodyBytes(of: (0..<urls).map { engine.start("\(warmUpPrefix)\($0)") }, engine)
        let (bytes, usage) = try await Usage.measuring {
            try await bodyBytes(of: (0..<callers).map { engine.start("\(prefix)\($0 % urls)") }, engine)
        }
        try await engine.shutdown()
        return Run(usage: usage, bodyBytes: bytes, warmUpRequests: urls)
    }

    private func bodyBytes<E: SharingEngine>(of handles: [E.Handle], _ engine: E) async throws -> Int {
        var sum = 0
        for handle in handles { sum += try await engine.value(of: handle) }
        return sum
    }

    /// Runs one caller per URL, without sharing.
    private func runInBulk() async throws -> Run {
        let (result, usage) = try await Usage.measuring {
            try await CurlMulti.run(prefix: prefix, count: urls, concurrency: urls)
        }
        return Run(usage: usage, bodyBytes: result.byteCount, warmUpRequests: 0)
    }
}
