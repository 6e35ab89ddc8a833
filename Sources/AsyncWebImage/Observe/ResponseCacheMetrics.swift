import CoreMetrics
import ResponseCache

extension ResponseCache {
    /// Records the uses of the cache from now on, unless another loader does.
    func record(_ configuration: MetricsConfiguration) {
        let counters = CacheUse.allCases.map { use in
            Counter(
                label: "webimage_response_cache_\(use.metricName)_total", dimensions: configuration.dimensions,
                factory: configuration.factory)
        }
        let uses = Dictionary(uniqueKeysWithValues: zip(CacheUse.allCases, counters))
        observeUses { use, count in uses[use]?.increment(by: count) }
    }
}

extension CacheUse {
    fileprivate var metricName: String {
        switch self {
        case .hit: "hits"
        case .revalidation: "revalidations"
        case .miss: "misses"
        case .eviction: "evictions"
        }
    }
}
