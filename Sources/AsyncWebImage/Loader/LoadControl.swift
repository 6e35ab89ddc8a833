import HTTPTransport
import Threading

/// The control of a load by its handle.
protocol LoadController: AnyObject, Sendable {
    /// A new stream of the progress; a slow consumer skips intermediate states.
    var progress: AsyncStream<DownloadProgress> { get }
    /// The priority, which can be changed at any time.
    var priority: DownloadPriority { get set }
    /// Ends the load for this caller.
    func cancel()
}

/// The control of a caller's load: its progress, its priority, and its end.
final class LoadControl: LoadController {
    private let id: Subscriber.ID
    private let coordinator: DownloadCoordinator
    private let lastPriority: Locked<DownloadPriority>

    init(id: Subscriber.ID, priority: DownloadPriority, coordinator: DownloadCoordinator) {
        self.id = id
        self.coordinator = coordinator
        lastPriority = Locked(priority)
    }

    func cancel() { coordinator.post(.leave(id)) }

    var progress: AsyncStream<DownloadProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        // Set before the stream is registered, and sent after that message, so that no removal is lost or too early.
        continuation.onTermination = { [weak coordinator, id] end in
            if case .cancelled = end { coordinator?.post(.stopWatching(id, continuation)) }
        }
        coordinator.post(.watch(id, continuation))
        return stream
    }

    var priority: DownloadPriority {
        get { lastPriority.withLock { $0 } }
        set {
            // Under the lock; otherwise two concurrent changes could reach the coordinator in the wrong order.
            lastPriority.withLock { priority in
                priority = newValue
                coordinator.post(.event(.prioritize(id, newValue)))
            }
        }
    }
}
