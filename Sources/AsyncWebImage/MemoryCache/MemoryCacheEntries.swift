/// The images of a memory cache in the order of their last use: a pure value.
///
/// The entries are a list linked by keys, so that lookup and removal take constant time.
struct MemoryCacheEntries {
    struct Entry {
        let response: ImageResponse
        let inserted: Stopwatch.Instant
        fileprivate var older: ImageCacheKey?
        fileprivate var newer: ImageCacheKey?

        init(response: ImageResponse, inserted: Stopwatch.Instant) {
            self.response = response
            self.inserted = inserted
        }

        var byteCount: Int {
            response.pixels.bytes.count + (response.image.iccProfile?.count ?? 0) + response.head.fieldByteCount
        }
    }

    private(set) var byteCount = 0
    private var entries: [ImageCacheKey: Entry] = [:]
    private var newest: ImageCacheKey?
    private var oldest: ImageCacheKey?

    var count: Int { entries.count }
    var keys: [ImageCacheKey] { Array(entries.keys) }

    /// Inserts an entry as the newest one; the key must not be in use.
    mutating func insert(_ entry: Entry, for key: ImageCacheKey) {
        var entry = entry
        entry.older = newest
        entry.newer = nil
        if let newest { entries[newest]?.newer = key }
        newest = key
        oldest = oldest ?? key
        entries[key] = entry
        byteCount += entry.byteCount
    }

    /// Removes and returns an entry.
    mutating func remove(_ key: ImageCacheKey) -> Entry? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
        if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
        byteCount -= entry.byteCount
        return entry
    }

    /// Removes the oldest entries until the others fit, and returns their number.
    mutating func trim(to maximumBytes: Int) -> Int {
        let before = count
        while byteCount > maximumBytes, let oldest { _ = remove(oldest) }
        return before - count
    }
}
