import Engines
import Synchronization

/// Callers that each fetch one URL after another until all have been fetched.
struct ClosedLoop: Sendable {
    /// The prefix of the URLs, followed by a number.
    let prefix: String
    let requests: Int
    /// The number of callers, and the maximum number of concurrent transfers.
    let concurrency: Int

    struct Run: Sendable {
        let usage: Usage
        let bodyBytes: Int
        /// The latency of every request, in nanoseconds.
        let latencies: [UInt64]
    }

    /// Warms up with a fifth of the requests, then measures.
    func run(on name: EngineName) async throws -> Run {
        guard let type = name.type else { return try await runInBulk() }
        let engine = try type.init(concurrency: concurrency)
        _ = try await fetch(max(requests / 5, concurrency), "\(prefix)warm", engine)
        let (callers, usage) = try await Usage.measuring { try await fetch(requests, prefix, engine) }
        try await engine.shutdown()
        return Run(
            usage: usage, bodyBytes: callers.reduce(0) { $0 + $1.bodyBytes }, latencies: callers.flatMap(\.latencies))
    }

    private struct Caller: Sendable {
        var bodyBytes = 0
        var latencies: [UInt64] = []
    }

    private final class Counter: Sendable {
        let next = Atomic(0)
    }

    private func fetch(_ requests: Int, _ prefix: String, _ engine: some Engine) async throws -> [Caller] {
        let counter = Counter()
        return try await withThrowingTaskGroup { group in
            for _ in 0..<concurrency {
                group.addTask {
                    var caller = Caller()
                    while true {
                        let number = counter.next.wrappingAdd(1, ordering: .relaxed).oldValue
                        guard number < requests else { return caller }
                        let started = ContinuousClock.now
                        caller.bodyBytes += try await engine.fetch("\(prefix)\(number)")
                        caller.latencies.append((.now - started).nanoseconds)
                    }
                }
            }
            var callers: [Caller] = []
            for try await caller in group { callers.append(caller) }
            return callers
        }
    }

    /// Runs the same load in a loop without separate callers.
    private func runInBulk() async throws -> Run {
        _ = try await CurlMulti.run(
            prefix: "\(prefix)warm", count: max(requests / 5, concurrency), concurrency: concurrency)
        let (result, usage) = try await Usage.measuring {
            try await CurlMulti.run(prefix: prefix, count: requests, concurrency: concurrency)
        }
        return Run(usage: usage, bodyBytes: result.byteCount, latencies: result.latencies)
    }
}
