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

    /// Loads the URLs with these numbers.
    ///
    /// Throws `Mismatch` if a body has another length or another source.
    func run(_ numbers: Range<Int>, bodyBytes: Int, from source: ResponseSource) async throws -> Run {
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
                            let data = try await loader.data(for: ImageRequest("\(prefix)\(number)"))
                            latencies.append((.now - started).nanoseconds)
                            try Mismatch.check("bytes of a body", data.bytes.count, is: bodyBytes)
                            guard data.source == source else {
                                throw Mismatch(description: "\(data.source) instead of \(source)")
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
