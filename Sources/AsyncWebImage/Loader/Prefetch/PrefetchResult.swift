/// How far a list of images that are loaded ahead of time has come.
public struct PrefetchProgress: Sendable, Hashable {
    /// Images that are loaded, or were in the cache already.
    public internal(set) var finished = 0
    /// Images that could not be loaded.
    public internal(set) var failed = 0
    /// Images of the list.
    public let total: Int
}

/// What became of a list of images that were loaded ahead of time.
///
/// If it was canceled, or the loader shut down, those that had not been loaded are neither finished nor failed.
public struct PrefetchResult: Sendable {
    /// An image that could not be loaded.
    public struct Failure: Sendable {
        /// Of the image.
        public let url: String
        /// Why; ``ImageError/codec(_:url:partial:)`` comes without its pixels.
        public let error: any Error
    }

    /// How many images were loaded, and how many were not.
    public internal(set) var progress: PrefetchProgress
    /// The first hundred that failed.
    public internal(set) var failures: [Failure] = []
}
