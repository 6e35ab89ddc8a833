import CoreMetrics

/// Counts the uses of a loader's memory cache.
final class MemoryCacheMetrics: Sendable {
    private let hits: Counter
    private let misses: Counter
    private let evictions: Counter

    init(_ configuration: MetricsConfiguration) {
        func counter(_ name: String) -> Counter {
            Counter(
                label: "webimage_memory_cache_\(name)_total", dimensions: configuration.dimensions,
                factory: configuration.factory)
        }
        hits = counter("hits")
        misses = counter("misses")
        evictions = counter("evictions")
    }

    func recordHit() { hits.increment() }
    func recordMiss() { misses.increment() }
    func recordEvictions(_ count: Int) { evictions.increment(by: count) }
}
