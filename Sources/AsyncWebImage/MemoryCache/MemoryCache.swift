import Threading

/// A cache of decoded images in memory that removes the least recently used ones first.
///
/// You can use a memory cache from any thread.
public final class MemoryCache: ImageCache {
    /// The maximum size of the cached images, in bytes: pixels, color profiles, and response header fields.
    public let maximumBytes: Int
    /// The time after which an image is no longer returned, counted from its insertion; `nil` for no limit.
    public let maximumAge: Duration?
    private let clock: Stopwatch
    private let whenEvicted: @Sendable (Int) -> Void
    private let state = Locked(MemoryCacheEntries())

    /// Creates a cache of at most `maximumBytes` bytes; a cache with a maximum of 0 is always empty.
    public convenience init(maximumBytes: Int, maximumAge: Duration? = nil) {
        self.init(maximumBytes: maximumBytes, maximumAge: maximumAge, clock: Stopwatch(ContinuousClock())) { _ in }
    }

    /// Creates a cache that reports how many images each insertion or expiration has removed.
    init(
        maximumBytes: Int, maximumAge: Duration?, clock: Stopwatch,
        whenEvicted: @escaping @Sendable (Int) -> Void
    ) {
        self.maximumBytes = maximumBytes
        self.maximumAge = maximumAge
        self.clock = clock
        self.whenEvicted = whenEvicted
    }

    /// The size of the cached images, in bytes: pixels, color profiles, and response header fields.
    public var byteCount: Int { state.withLock { $0.byteCount } }
    /// The number of cached images.
    public var count: Int { state.withLock { $0.count } }

    /// Returns the image for a key, unless it is older than ``maximumAge``.
    public func response(for key: ImageCacheKey) -> ImageResponse? {
        let now = maximumAge == nil ? Stopwatch.Instant() : clock.now
        let (response, isExpired) = state.withLock { state -> (ImageResponse?, Bool) in
            guard let entry = state.remove(key) else { return (nil, false) }
            if let maximumAge, entry.inserted.duration(to: now) >= maximumAge { return (nil, true) }
            state.insert(entry, for: key)
            return (entry.response, false)
        }
        if isExpired { whenEvicted(1) }
        return response
    }

    /// Stores an image, unless it is larger than the cache.
    public func insert(_ response: ImageResponse, for key: ImageCacheKey) {
        let entry = MemoryCacheEntries.Entry(
            response: response, inserted: maximumAge == nil ? Stopwatch.Instant() : clock.now)
        guard entry.byteCount <= maximumBytes else { return }
        let evicted = state.withLock { state in
            _ = state.remove(key)
            state.insert(entry, for: key)
            return state.trim(to: maximumBytes)
        }
        if evicted > 0 { whenEvicted(evicted) }
    }

    /// Removes the image for a key, if there is one.
    public func remove(_ key: ImageCacheKey) {
        state.withLock { _ = $0.remove(key) }
    }

    /// Removes the images whose keys match.
    public func removeAll(where matches: (ImageCacheKey) -> Bool) {
        // Outside the lock: the closure can use the cache.
        let keys = state.withLock { $0.keys }.filter(matches)
        state.withLock { state in
            for key in keys { _ = state.remove(key) }
        }
    }

    /// Removes the least recently used images until the others take at most `maximumBytes` bytes.
    public func trim(to maximumBytes: Int) {
        let evicted = state.withLock { $0.trim(to: maximumBytes) }
        if evicted > 0 { whenEvicted(evicted) }
    }
}
