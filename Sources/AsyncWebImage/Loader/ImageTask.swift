import Threading

/// The handle of an image that is being loaded.
///
/// Letting the handle go does not stop the load; ``cancel()`` does.
public final class ImageTask: Sendable {
    private let id: Subscriber.ID
    private let answer: OneShot<ImageResponse>
    private let coordinator: DownloadCoordinator
    private let currentPriority: Locked<DownloadPriority>

    init(
        id: Subscriber.ID, answer: OneShot<ImageResponse>, priority: DownloadPriority, coordinator: DownloadCoordinator
    ) {
        self.id = id
        self.answer = answer
        self.coordinator = coordinator
        currentPriority = Locked(priority)
    }

    /// The image, once it is there.
    ///
    /// May be awaited any number of times, by anybody.
    ///
    /// Throws ``ImageError``, or `CancellationError` after ``cancel()``. Cancelling a task that awaits this does not
    /// cancel the load, as with Swift's own `Task`.
    public var value: ImageResponse {
        get async throws { try await answer.value }
    }

    /// Stops the load for this handle only; others who share the download are not touched.
    ///
    /// Takes effect at once.
    public func cancel() {
        answer.resolve(.failure(CancellationError()))
        coordinator.leave(id)
    }

    /// How soon the download gets its turn; may be changed while it waits.
    public var priority: DownloadPriority {
        get { currentPriority.withLock { $0 } }
        set {
            currentPriority.withLock { $0 = newValue }
            // Setting is synchronous; the coordinator reads the latest value when its turn comes.
            Task { [coordinator, id, currentPriority] in
                await coordinator.setPriority(currentPriority.withLock { $0 }, of: id)
            }
        }
    }
}
