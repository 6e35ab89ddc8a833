import Threading

/// A cache of decoded images in memory that removes the least recently used ones first.
///
/// You can use a memory cache from any thread.
public final class MemoryCache: Sendable {
    fileprivate struct Entry {
        let response: ImageResponse
        var older: VariantKey?
        var newer: VariantKey?

        var cost: Int {
            response.pixels.bytes.count + (response.image.iccProfile?.count ?? 0) + response.head.fieldByteCount
        }
    }

    /// The entries as a list linked by keys, so that lookup and removal take constant time.
    fileprivate struct State {
        var entries: [VariantKey: Entry] = [:]
        var newest: VariantKey?
        var oldest: VariantKey?
        var cost = 0
    }

    /// The maximum size of the cached images, in bytes: pixels, color profiles, and response header fields.
    public let limit: Int
    private let state = Locked(State())

    /// Creates a cache of at most `limit` bytes; a cache with limit 0 is always empty.
    public init(limit: Int) {
        self.limit = limit
    }

    /// The size of the cached images, in bytes: pixels, color profiles, and response header fields.
    public var cost: Int { state.withLock { $0.cost } }
    /// The number of cached images.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Removes all images.
    public func removeAll() {
        state.withLock { $0 = State() }
    }

    func response(for key: VariantKey) -> ImageResponse? {
        state.withLock { state in
            guard let entry = state.unlink(key) else { return nil }
            state.link(entry, key)
            return entry.response
        }
    }

    func insert(_ response: ImageResponse, for key: VariantKey) {
        let entry = Entry(response: response)
        guard entry.cost <= limit else { return }
        state.withLock { state in
            _ = state.unlink(key)
            state.link(entry, key)
            while state.cost > limit, let oldest = state.oldest { _ = state.unlink(oldest) }
        }
    }
}

extension MemoryCache.State {
    fileprivate mutating func link(_ entry: MemoryCache.Entry, _ key: VariantKey) {
        var entry = entry
        entry.older = newest
        entry.newer = nil
        if let newest { entries[newest]?.newer = key }
        newest = key
        oldest = oldest ?? key
        entries[key] = entry
        cost += entry.cost
    }

    fileprivate mutating func unlink(_ key: VariantKey) -> MemoryCache.Entry? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
        if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
        cost -= entry.cost
        return entry
    }
}
