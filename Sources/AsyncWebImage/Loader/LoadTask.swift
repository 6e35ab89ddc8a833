import Threading

/// The handle of an image that is being loaded.
public typealias ImageTask = LoadTask<ImageResponse>

/// The handle of something that is being loaded, for any number of those who await it.
///
/// Costs a fraction of a Swift `Task` that awaits the loader. Letting the handle go does not stop the load;
/// ``cancel()`` does.
public final class LoadTask<Value: Sendable>: Sendable {
    private let id: Subscriber.ID
    private let answer: OneShot<Value>
    private let coordinator: DownloadCoordinator
    private let currentPriority: Locked<DownloadPriority>

    init(id: Subscriber.ID, answer: OneShot<Value>, priority: DownloadPriority, coordinator: DownloadCoordinator) {
        self.id = id
        self.answer = answer
        self.coordinator = coordinator
        currentPriority = Locked(priority)
    }

    /// What is loaded, once it is there.
    ///
    /// May be awaited any number of times, by anybody.
    ///
    /// Throws ``ImageError``, or `CancellationError` after ``cancel()``. Canceling a task that awaits this does not
    /// cancel the load, as with Swift's own `Task`.
    public var value: Value {
        get async throws { try await answer.value }
    }

    /// Stops the load for this handle only; others who share the download are not touched.
    ///
    /// Takes effect at once.
    public func cancel() {
        answer.resolve(.failure(CancellationError()))
        coordinator.post(.leave(id))
    }

    /// How much of the body has come, each time it is more, until there is an answer; a slow consumer sees fewer and newer
    /// states.
    ///
    /// Each call makes a stream of its own. Who joins a download under way sees at once how far it is. What is in the memory
    /// cache has no progress.
    public var progress: AsyncStream<DownloadProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        // Before it is watched, and by a message behind that: nobody can leave without being heard, nor too early.
        continuation.onTermination = { [weak coordinator, id] end in
            if case .cancelled = end { coordinator?.post(.stopWatching(id, continuation)) }
        }
        coordinator.post(.watch(id, continuation))
        return stream
    }

    /// How soon the download gets its turn; may be changed while it waits or runs.
    public var priority: DownloadPriority {
        get { currentPriority.withLock { $0 } }
        set {
            // Under the lock, or of two who set it at once the coordinator could hear in the other order.
            currentPriority.withLock { priority in
                priority = newValue
                coordinator.post(.prioritize(id, newValue))
            }
        }
    }
}
