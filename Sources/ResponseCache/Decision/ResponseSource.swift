/// The source of a response, from the perspective of its caller.
public enum ResponseSource: String, Sendable, Hashable {
    /// A download that this caller started.
    case network
    /// A file, memory, or another source of the application, read for this caller.
    case source
    /// An active download started by another caller.
    case joined
    /// A ``ResponseCache`` in a folder, or in a ``ResponseStorage`` outside of memory.
    case disk
    /// A ``ResponseCache`` in memory.
    case responseCacheMemory
    /// A ``ResponseCache``, after the origin has confirmed that the response is still valid.
    case revalidated
    /// The cache of decoded images in memory (`ImageLoader.imageCache`).
    case imageCache
}
