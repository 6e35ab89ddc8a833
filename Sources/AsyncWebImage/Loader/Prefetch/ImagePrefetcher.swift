import ResponseCache

/// Loads images ahead of time, few at a time and behind everything that somebody waits for: decoded into the loader's
/// ``MemoryCache``, or as they come into its ``ResponseCache``.
///
/// Low priorities leave half of the download slots to others (see ``DownloadPriority``), so a list of any length holds
/// nothing up. What the cache has no room for, or may not keep, is loaded in vain.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(loader: loader)
/// let task = prefetcher.prefetch(urls.lazy.map { ImageRequest($0, maximumSide: 256) })
/// for await progress in task.progress { print("\(progress.finished) of \(progress.total)") }
/// for failure in await task.result.failures { print(failure.url, failure.error) }
/// ```
///
/// A class over a small locked state rather than an actor: to pause shall need no `await`.
public final class ImagePrefetcher: Sendable {
    /// Where images are kept until somebody wants them.
    public enum Destination: Sendable, Hashable {
        /// The loader's ``MemoryCache``, decoded for the options of their requests.
        case memory
        /// The loader's ``ResponseCache``, in a folder or in memory, as they come; nothing is decoded.
        ///
        /// Takes a loader that has one (``ImageLoader/Configuration/responseCache``).
        case responseCache
    }

    private let loader: ImageLoader
    private let destination: Destination
    private let priority: DownloadPriority
    private let slots: PrefetchSlots

    /// A prefetcher of at most `maximumConcurrentLoads` images at a time, all of its lists together; at least one.
    public init(
        loader: ImageLoader, destination: Destination = .memory, priority: DownloadPriority = .low,
        maximumConcurrentLoads: Int = 4
    ) {
        self.loader = loader
        self.destination = destination
        self.priority = priority
        slots = PrefetchSlots(count: max(1, maximumConcurrentLoads))
    }

    /// Begins to load the images of `requests`, in their order, each with the prefetcher's priority in place of its own.
    ///
    /// Requests are taken from the collection as they get their turn: of a lazy one, no more than a few are there at a
    /// time, however many it has. What is in the cache already is not loaded again.
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

    /// Begins no further load until ``resume()``; those under way finish.
    public func pause() { slots.pause() }

    /// Takes ``pause()`` back, however often it was called.
    public func resume() { slots.resume() }
}
