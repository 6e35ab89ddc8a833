/// Where a response came from, seen from the caller who gets it.
public enum ResponseSource: String, Sendable, Hashable {
    /// A download that this caller started.
    case network
    /// A download that was already under way for somebody else.
    case joined
    /// The folder of a ``ResponseCache``.
    case disk
    /// A ``ResponseCache`` in memory.
    case storedInMemory
    /// A ``ResponseCache``, after the origin had said that it is still right.
    case revalidated
    /// The memory cache of finished pixels.
    case memory
    /// A file.
    case file
}
