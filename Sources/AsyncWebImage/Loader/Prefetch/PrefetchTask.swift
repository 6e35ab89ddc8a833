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
    /// Any number of tasks can await this property, repeatedly. Canceling a task that awaits it has no effect on the
    /// list.
    public var result: PrefetchResult {
        get async {
            await task.value
            return record.result
        }
    }

    /// The current progress.
    var snapshot: PrefetchProgress { record.result.progress }

    /// A stream of the progress that delivers the current state and each change, and ends when the list ends.
    ///
    /// A slow consumer skips intermediate states, but always gets the last one. Each access creates a separate stream,
    /// which supports a single consumer.
    public var progress: AsyncStream<PrefetchProgress> { record.makeStream() }

    /// Cancels the loads of this list; other callers that wait for the same images are not affected.
    ///
    /// Cached images stay in the cache.
    public func cancel() { task.cancel() }
}
