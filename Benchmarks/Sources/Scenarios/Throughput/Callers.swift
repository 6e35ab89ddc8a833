import Engines
import Synchronization

/// Callers that each fetch one URL after another until all have been fetched.
struct Callers: Sendable {
    private(set) var bodyBytes = 0
    /// The latency of every request, in nanoseconds.
    private(set) var latencies: [UInt64] = []

    /// Fetches as many URLs as there are `requests`, each of which `url` returns for its number from 0.
    static func fetch(
        _ requests: Int, concurrency: Int, from engine: some Engine, url: @escaping @Sendable (Int) -> String
    ) async throws -> Callers {
        let counter = Counter()
        return try await withThrowingTaskGroup { group in
            for _ in 0..<concurrency {
                group.addTask {
                    var caller = Callers()
                    while true {
                        let number = counter.next.wrappingAdd(1, ordering: .relaxed).oldValue
                        guard number < requests else { return caller }
                        let started = ContinuousClock.now
                        caller.bodyBytes += try await engine.fetch(url(number))
                        caller.latencies.append((.now - started).nanoseconds)
                    }
                }
            }
            return try await group.reduce(into: Callers()) { all, caller in
                all.bodyBytes += caller.bodyBytes
                all.latencies += caller.latencies
            }
        }
    }

    private final class Counter: Sendable {
        let next = Atomic(0)
    }
}
