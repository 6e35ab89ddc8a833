import HTTPTransport
import Threading

/// The control of a caller's load: its progress, its priority, and its end.
final class LoadControl: Sendable {
    private let id: Subscriber.ID
    private let coordinator: DownloadCoordinator
    private let currentPriority: Locked<DownloadPriority>

    init(id: Subscriber.ID, priority: DownloadPriority, coordinator: DownloadCoordinator) {
        self.id = id
        self.coordinator = coordinator
        currentPriority = Locked(priority)
    }

    /// Ends the load for this caller.
    func leave() { coordinator.post(.leave(id)) }

    /// A new stream of the progress; a slow consumer skips intermediate states.
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

    /// The priority, which can be changed at any time.
    var priority: DownloadPriority {
        get { currentPriority.withLock { $0 } }
        set {
            // Under the lock; otherwise two concurrent changes could reach the coordinator in the wrong order.
            currentPriority.withLock { priority in
                priority = newValue
                coordinator.post(.event(.prioritize(id, newValue)))
            }
        }
    }
}
