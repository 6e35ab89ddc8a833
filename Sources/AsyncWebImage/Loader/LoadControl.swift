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
    private struct State {
        var priority: DownloadPriority
        /// A Boolean value that indicates whether the caller has joined a download.
        var isJoined: Bool
        /// The streams of progress that wait until it has.
        var watchers: [AsyncStream<DownloadProgress>.Continuation] = []
    }

    private let id: Subscriber.ID
    private let coordinator: DownloadCoordinator
    private let state: Locked<State>

    /// Creates the control of a caller that has joined a download, or will do so by ``join(_:)``.
    init(id: Subscriber.ID, priority: DownloadPriority, coordinator: DownloadCoordinator, isJoined: Bool = true) {
        self.id = id
        self.coordinator = coordinator
        state = Locked(State(priority: priority, isJoined: isJoined))
    }

    /// Adds the caller to a download, with the priority that has been set meanwhile; `nil` if it needs none.
    func join(_ caller: Subscriber?) {
        guard let caller else { return end() }
        state.withLock { state in
            var caller = caller
            caller.priority = state.priority
            coordinator.post(.join(caller))
            state.isJoined = true
            for watcher in state.watchers { coordinator.post(.watch(id, watcher)) }
            state.watchers = []
        }
    }

    /// Ends the load without a download.
    func end() {
        let watchers = state.withLock { state in
            state.isJoined = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.finish() }
    }

    func cancel() { coordinator.post(.leave(id)) }

    var progress: AsyncStream<DownloadProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        // Set before the stream is registered, and sent after that message, so that no removal is lost or too early.
        continuation.onTermination = { [weak coordinator, id] end in
            if case .cancelled = end { coordinator?.post(.stopWatching(id, continuation)) }
        }
        state.withLock { state in
            if state.isJoined {
                coordinator.post(.watch(id, continuation))
            } else {
                state.watchers.append(continuation)
            }
        }
        return stream
    }

    var priority: DownloadPriority {
        get { state.withLock { $0.priority } }
        set {
            // Under the lock; otherwise two concurrent changes could reach the coordinator in the wrong order.
            state.withLock { state in
                state.priority = newValue
                if state.isJoined { coordinator.post(.event(.prioritize(id, newValue))) }
            }
        }
    }
}
