public import HTTPTransport
import Threading

/// A handle to the loading of an image.
public typealias ImageTask = LoadTask<ImageResponse>

/// A handle to the loading of an image, an animation, a body, or the properties of a file.
///
/// Any number of tasks can await it. A handle takes a fraction of the resources of a Swift `Task` that awaits the
/// loader. Releasing the handle does not stop the load; ``cancel()`` does.
public final class LoadTask<Value: Sendable>: Sendable {
    private let id: Subscriber.ID
    private let answer: OneShot<Value>
    private let response: ResponseAccess
    private let headOfValue: @Sendable (Value) -> ResponseHead
    private let coordinator: DownloadCoordinator
    private let currentPriority: Locked<DownloadPriority>

    init(
        id: Subscriber.ID, answer: OneShot<Value>, response: ResponseAccess,
        head: @escaping @Sendable (Value) -> ResponseHead, priority: DownloadPriority, coordinator: DownloadCoordinator
    ) {
        self.id = id
        self.answer = answer
        self.response = response
        headOfValue = head
        self.coordinator = coordinator
        currentPriority = Locked(priority)
    }

    /// The loaded value, available when the load is complete.
    ///
    /// Any number of tasks can await this property, repeatedly. As with the value of a Swift `Task`, canceling a task
    /// that awaits it does not cancel the load.
    ///
    /// Throws ``ImageError``, or `CancellationError` after ``cancel()``.
    public var value: Value {
        get async throws { try await answer.value }
    }

    /// The status and header fields of the response; `nil` before they have been received, and after a failure.
    ///
    /// While the body is being received, a retry can replace the response. For an image from the cache of decoded
    /// images, they are those of the response from which the image was decoded.
    public var head: ResponseHead? { answer.success.map(headOfValue) ?? response.head }

    /// Cancels the load for this handle; other callers that share the download are not affected.
    ///
    /// The cancellation takes effect immediately.
    public func cancel() {
        answer.resolve(.failure(CancellationError()))
        coordinator.post(.leave(id))
    }

    /// A stream of the progress until the load is complete.
    ///
    /// Each access creates a separate stream. A slow consumer skips intermediate states. If the load joins an active
    /// download, the current progress is available immediately. Results from the cache of decoded images have no
    /// progress.
    public var progress: AsyncStream<DownloadProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        // Set before the stream is registered, and sent after that message, so that no removal is lost or too early.
        continuation.onTermination = { [weak coordinator, id] end in
            if case .cancelled = end { coordinator?.post(.stopWatching(id, continuation)) }
        }
        coordinator.post(.watch(id, continuation))
        return stream
    }

    /// The priority of this load, which can be changed at any time.
    ///
    /// A shared download has the highest priority of its callers.
    public var priority: DownloadPriority {
        get { currentPriority.withLock { $0 } }
        set {
            // Under the lock; otherwise two concurrent changes could reach the coordinator in the wrong order.
            currentPriority.withLock { priority in
                priority = newValue
                coordinator.post(.prioritize(id, newValue))
            }
        }
    }
}
