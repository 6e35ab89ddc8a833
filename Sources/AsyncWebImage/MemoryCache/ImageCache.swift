/// A cache of decoded images that a loader searches before it downloads or decodes anything.
///
/// Methods can be called concurrently from any thread and must return quickly, because a loader calls them
/// synchronously. ``MemoryCache`` is the cache of a loader unless its configuration has another one.
public protocol ImageCache: Sendable {
    /// Returns the image for a key and marks it as recently used; `nil` if there is none.
    func response(for key: ImageCacheKey) -> ImageResponse?

    /// Stores an image, replacing the one with the same key; a cache need not keep it.
    func insert(_ response: ImageResponse, for key: ImageCacheKey)

    /// Removes the image for a key, if there is one.
    func remove(_ key: ImageCacheKey)

    /// Removes the images whose keys match.
    func removeAll(where matches: (ImageCacheKey) -> Bool)

    /// Removes the least recently used images until the others take at most `maximumBytes` bytes.
    func trim(to maximumBytes: Int)

    /// The number of cached images.
    var count: Int { get }

    /// The size of the cached images, in bytes.
    var byteCount: Int { get }
}

extension ImageCache {
    /// Removes all images.
    public func removeAll() {
        removeAll { _ in true }
    }
}
