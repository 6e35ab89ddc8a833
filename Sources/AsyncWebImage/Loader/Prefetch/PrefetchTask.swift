/// The handle of a list of images that are loaded ahead of time.
///
/// Letting it go does not stop the loads; ``cancel()`` does.
public final class PrefetchTask: Sendable {
    private let task: Task<Void, Never>
    private let record: PrefetchRecord

    init(task: Task<Void, Never>, record: PrefetchRecord) {
        self.task = task
        self.record = record
    }

    /// What has become of the list, once it is through or canceled.
    ///
    /// May be awaited any number of times, by anybody; who is canceled waits on.
    public var result: PrefetchResult {
        get async {
            await task.value
            return record.result
        }
    }

    /// How far it has come.
    public var snapshot: PrefetchProgress { record.result.progress }

    /// How far it has come, now and whenever that changes; ends with the list.
    ///
    /// A slow consumer sees fewer and newer ones, and always the last. Each call makes a stream, for one consumer.
    public var progress: AsyncStream<PrefetchProgress> { record.makeStream() }

    /// Stops the loads of this list; others who wait for the same images are not touched.
    ///
    /// What is in the cache stays there.
    public func cancel() { task.cancel() }
}
