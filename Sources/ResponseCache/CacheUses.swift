import Threading

/// The numbers of the uses of a cache since it was created by this process.
final class CacheUses: Sendable {
    private struct State {
        var statistics = ResponseCache.Statistics()
        var observer: (@Sendable (CacheUse, Int) -> Void)?
    }

    private let state = Locked(State())

    var statistics: ResponseCache.Statistics { state.withLock { $0.statistics } }

    func record(_ use: CacheUse, count: Int = 1) {
        guard count > 0 else { return }
        let observer = state.withLock { state in
            switch use {
            case .hit: state.statistics.hits += count
            case .revalidation: state.statistics.revalidations += count
            case .miss: state.statistics.misses += count
            case .eviction: state.statistics.evictions += count
            }
            return state.observer
        }
        observer?(use, count)
    }

    /// Sets the observer of uses from now on, unless there is one.
    func observe(_ observer: @escaping @Sendable (CacheUse, Int) -> Void) {
        state.withLock { if $0.observer == nil { $0.observer = observer } }
    }
}

extension ResponseCache {
    /// Counts of how this process has used a cache.
    public struct Statistics: Sendable, Hashable {
        /// The number of requests that were answered without asking the origin.
        public var hits = 0
        /// The number of requests for which the origin was asked whether a stored response is current.
        public var revalidations = 0
        /// The number of requests for which there was no usable response, or only the beginning of one.
        public var misses = 0
        /// The number of responses that were removed to make room.
        public var evictions = 0
    }

    /// The counts for this process since it created the cache.
    ///
    /// Requests whose policy ignores stored responses are not counted.
    public var statistics: Statistics { uses.statistics }

    /// Calls `observer` with all uses from now on, unless there is an observer already.
    package func observeUses(_ observer: @escaping @Sendable (CacheUse, Int) -> Void) { uses.observe(observer) }
}
