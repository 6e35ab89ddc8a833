public import HTTPTransport
public import ImageCodecs

/// A cache of decoded images that a loader searches before it downloads or decodes anything.
///
/// All methods are called from any thread, often several at a time, and must return quickly: a loader calls them
/// synchronously. ``MemoryCache`` is the cache of a loader unless its configuration has another one.
public protocol ImageCache: Sendable {
    /// Returns the image for a key, which counts as its use; `nil` if there is none.
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

/// The properties of a request that determine its image: the URL, the header fields and credential, and the decoding
/// options.
///
/// Requests with different priorities or cache policies have the same key. Callers with equal keys share one decode.
public struct ImageCacheKey: Sendable, Hashable {
    let fetch: FetchKey
    /// The decoding options.
    public let options: DecodeOptions

    /// The URL.
    public var url: HTTPURL { fetch.url }
}
