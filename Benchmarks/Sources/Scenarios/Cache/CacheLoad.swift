import AsyncWebImage
import Synchronization

/// Callers that each load one URL after another, with or without a response cache.
struct CacheLoad: Sendable {
    let loader: ImageLoader
    /// The prefix of the URLs, followed by a number.
    let prefix: String
    let concurrency: Int

    struct Run: Sendable {
        let usage: Usage
        /// The latency of every request, in nanoseconds.
        let latencies: [UInt64]
    }

    private final class Counter: Sendable {
        let next: Atomic<Int>

        init(_ first: Int) {
            next = Atomic(first)
        }
    }

    /// Creates a load whose loader has no image cache.
    init(_ prefix: String, concurrency: Int, cache: ResponseCache? = nil, policy: CachePolicy = .useProtocol) {
        var configuration = ImageLoader.Configuration()
        configuration.downloads.maximumConcurrentDownloads = concurrency
        configuration.downloads.maximumConcurrentDownloadsPerHost = concurrency
        configuration.downloads.maximumConnectionsPerHost = concurrency
        configuration.maximumMemoryCacheBytes = 0
        configuration.responseCache = cache
        configuration.cachePolicy = policy
        loader = ImageLoader(configuration: configuration)
        self.prefix = prefix
        self.concurrency = concurrency
    }

    /// Loads the bodies with these numbers.
    ///
    /// Throws `Mismatch` if a body has another length or another source.
    func run(_ numbers: Range<Int>, bodyBytes: Int, from source: ResponseSource) async throws -> Run {
        try await run(numbers, from: source) { loader, url in
            let data = try await loader.data(for: ImageRequest(url))
            try Mismatch.check("bytes of a body", data.bytes.count, is: bodyBytes)
            return data.source
        }
    }

    /// Calls `load` with the URLs of these numbers; throws `Mismatch` if it returns another source.
    func run(
        _ numbers: Range<Int>, from source: ResponseSource,
        _ load: @escaping @Sendable (ImageLoader, String) async throws -> ResponseSource
    ) async throws -> Run {
        let counter = Counter(numbers.lowerBound)
        let (latencies, usage) = try await Usage.measuring {
            try await withThrowingTaskGroup { group in
                for _ in 0..<concurrency {
                    group.addTask { [loader, prefix] in
                        var latencies: [UInt64] = []
                        while true {
                            let number = counter.next.wrappingAdd(1, ordering: .relaxed).oldValue
                            guard number < numbers.upperBound else { return latencies }
                            let started = ContinuousClock.now
                            let actual = try await load(loader, "\(prefix)\(number)")
                            latencies.append((.now - started).nanoseconds)
                            guard actual == source else {
                                throw Mismatch(description: "\(actual) instead of \(source)")
                            }
                        }
                    }
                }
                var latencies: [UInt64] = []
                for try await some in group { latencies += some }
                return latencies
            }
        }
        return Run(usage: usage, latencies: latencies)
    }
}
