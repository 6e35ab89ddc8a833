import ResponseCache

/// Loads images ahead of time with low priority: decoded into the loader's ``MemoryCache``, or undecoded into its
/// ``ResponseCache``.
///
/// Low priorities leave half of the download slots to other requests (see ``DownloadPriority``), so that a list of
/// any length delays nothing. Images for which the cache has no room, or which it may not store, are loaded in vain.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(loader: loader)
/// let task = prefetcher.prefetch(urls.lazy.map { ImageRequest($0, maximumSide: 256) })
/// for await progress in task.progress { print("\(progress.finished) of \(progress.total)") }
/// for failure in await task.result.failures { print(failure.url, failure.error) }
/// ```
///
/// A class with a small locked state instead of an actor, so that pausing needs no `await`.
public final class ImagePrefetcher: Sendable {
    /// The cache that receives the images.
    public enum Destination: Sendable, Hashable {
        /// The loader's ``MemoryCache``, decoded with the options of their requests.
        case memory
        /// The loader's ``ResponseCache``, in a folder or in memory; nothing is decoded.
        ///
        /// Requires a loader with a response cache (``ImageLoader/Configuration/responseCache``).
        case responseCache
    }

    private let loader: ImageLoader
    private let destination: Destination
    private let priority: DownloadPriority
    private let slots: PrefetchSlots

    /// Creates a prefetcher that loads at most `maximumConcurrentLoads` images at a time, over all its lists; at
    /// least one.
    public init(
        loader: ImageLoader, destination: Destination = .memory, priority: DownloadPriority = .low,
        maximumConcurrentLoads: Int = 4
    ) {
        self.loader = loader
        self.destination = destination
        self.priority = priority
        slots = PrefetchSlots(count: max(1, maximumConcurrentLoads))
    }

    /// Starts to load the images of `requests` in order, with the prefetcher's priority instead of their own.
    ///
    /// Requests are taken from the collection on demand: of a lazy collection, only a few exist at a time, regardless
    /// of its length. Images that are already cached are not loaded again.
    public func prefetch(_ requests: sending some Collection<ImageRequest>) -> PrefetchTask {
        let record = PrefetchRecord(total: requests.count)
        let task = Task { [loader, destination, priority, slots] in
            let signal = loader.coordinator.shutdownSignal
            let listener = signal.add { slots.close() }
            defer { signal.remove(listener) }
            await withDiscardingTaskGroup { group in
                for request in requests {
                    guard await slots.enter() else { break }
                    group.addTask {
                        await record.note(request.url) {
                            var request = request
                            request.priority = priority
                            switch destination {
                            case .memory: _ = try await loader.image(for: request)
                            case .responseCache: _ = try await loader.data(for: request)
                            }
                        }
                        slots.leave()
                    }
                }
            }
            record.end()
        }
        return PrefetchTask(task: task, record: record)
    }

    /// Pauses: no further load starts until ``resume()``; active ones finish.
    public func pause() { slots.pause() }

    /// Resumes after any number of calls of ``pause()``.
    public func resume() { slots.resume() }
}
