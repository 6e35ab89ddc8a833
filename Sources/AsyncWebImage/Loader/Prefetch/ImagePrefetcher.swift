import ResponseCache

/// An object that loads images ahead of time with low priority: decoded into the loader's ``ImageLoader/imageCache``,
/// or undecoded or encoded into its ``ResponseCache``.
///
/// Low priorities leave half of the download slots to other requests (see ``DownloadPriority``), so that even a long
/// list does not delay them. Images that the cache has no room for, or may not store, are downloaded but not kept.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(loader: loader)
/// let task = prefetcher.prefetch(urls.lazy.map { ImageRequest($0, maximumSide: 256) })
/// for await progress in task.progress { print("\(progress.completed) of \(progress.total)") }
/// for failure in await task.result.failures { print(failure.url, failure.error) }
/// ```
///
/// A prefetcher can be used from any thread, and ``pause()`` and ``resume()`` do not need `await`.
public final class ImagePrefetcher: Sendable {
    /// The cache that receives the images.
    public enum Destination: Sendable, Hashable {
        /// The loader's cache of decoded images (``ImageLoader/imageCache``), decoded with the options of their
        /// requests.
        case memory
        /// The loader's ``ResponseCache``, in a folder or in memory; nothing is decoded.
        ///
        /// Requires a loader with a response cache (``ImageLoader/Configuration/responseCache``).
        case responseCache
        /// The loader's ``ResponseCache``, with the files that ``ImageLoader/file(for:as:)`` makes by this rule.
        ///
        /// Requires a loader with a response cache.
        case files(OutputRule)
    }

    private let loader: ImageLoader
    private let destination: Destination
    private let priority: DownloadPriority
    private let group: LoadGroup

    /// Creates a prefetcher that loads at most `maximumConcurrentLoads` images at a time, from all of its lists
    /// together; values below 1 are treated as 1.
    ///
    /// The default is half of the default number of concurrent downloads: as many as low priorities may have.
    public init(
        loader: ImageLoader, destination: Destination = .memory, priority: DownloadPriority = .low,
        maximumConcurrentLoads: Int = 64
    ) {
        self.loader = loader
        self.destination = destination
        self.priority = priority
        group = loader.loadGroup(maximumActive: maximumConcurrentLoads, maximumOpen: maximumConcurrentLoads)
    }

    deinit { group.send(.endGroup(group)) }

    /// Starts to load the images of `requests` in order, with the prefetcher's priority instead of their own.
    ///
    /// Requests are taken from the collection on demand, so that only a few elements of a lazy collection exist at a
    /// time. Images that are already cached are not loaded again.
    public func prefetch(_ requests: sending some Collection<ImageRequest> & SendableMetatype) -> PrefetchTask {
        let record = PrefetchRecord(total: requests.count)
        // The group lasts as long as a list of it.
        let task = Task { [self] in
            let (reader, signal) = (LoadReader(), loader.coordinator.shutdownSignal)
            let listener = signal.add { reader.finish(.failure(ImageError.shutDown)) }
            defer { signal.remove(listener) }
            try? await group.forEach(requests, by: reader) { [loader, destination, priority] request, slot in
                try await record.note(request.url) {
                    var request = request
                    (request.priority, request.slot) = (priority, slot)
                    switch destination {
                    case .memory: _ = try await loader.image(for: request)
                    case .responseCache: _ = try await loader.data(for: request)
                    case .files(let rule): _ = try await loader.file(for: request, as: rule)
                    }
                }
            }
            record.end()
        }
        return PrefetchTask(task: task, record: record)
    }

    /// Prevents further loads from starting until ``resume()`` is called; active ones finish.
    public func pause() { group.setPaused(true) }

    /// Lets loads start again, regardless of how often ``pause()`` has been called.
    public func resume() { group.setPaused(false) }
}
