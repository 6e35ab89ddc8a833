/// The progress of prefetching a list of images.
public struct PrefetchProgress: Sendable, Hashable {
    /// The number of images that have been loaded or were cached already.
    ///
    /// Images that could not be loaded count only in ``failed``.
    public internal(set) var finished = 0
    /// The number of images that could not be loaded.
    public internal(set) var failed = 0
    /// The number of images that are done: loaded, cached already, or failed.
    ///
    /// It reaches ``total`` unless the list is canceled.
    public var completed: Int { finished + failed }
    /// The number of images in the list.
    public let total: Int
}

/// The result of prefetching a list of images.
///
/// After a cancellation or a shutdown of the loader, the remaining images are neither finished nor failed.
public struct PrefetchResult: Sendable {
    /// An image that could not be loaded.
    public struct Failure: Sendable {
        /// The URL of the image.
        public let url: String
        /// The reason; ``ImageError/codec(_:url:partial:)`` does not include pixels.
        public let error: any Error
    }

    /// The numbers of images that were loaded and that could not be loaded.
    public internal(set) var progress: PrefetchProgress
    /// The first hundred failures.
    public internal(set) var failures: [Failure] = []
}
