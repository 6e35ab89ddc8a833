/// The handle of a prefetched list of images.
///
/// Releasing it does not stop the loads; ``cancel()`` does.
public final class PrefetchTask: Sendable {
    private let task: Task<Void, Never>
    private let record: PrefetchRecord

    init(task: Task<Void, Never>, record: PrefetchRecord) {
        self.task = task
        self.record = record
    }

    /// The result of the list, available when it is complete or canceled.
    ///
    /// Can be awaited repeatedly, by any number of tasks; canceling an awaiting task has no effect.
    public var result: PrefetchResult {
        get async {
            await task.value
            return record.result
        }
    }

    /// The current progress.
    public var snapshot: PrefetchProgress { record.result.progress }

    /// A stream of the progress, now and whenever it changes, which ends with the list.
    ///
    /// A slow consumer gets fewer and newer states, and always the last. Each access creates a stream for one
    /// consumer.
    public var progress: AsyncStream<PrefetchProgress> { record.makeStream() }

    /// Cancels the loads of this list; other callers that wait for the same images are not affected.
    ///
    /// Cached images stay in the cache.
    public func cancel() { task.cancel() }
}
