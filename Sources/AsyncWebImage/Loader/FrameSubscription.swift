import Threading

/// A stream's connection to a download: joins it on first demand, and leaves it when the stream is released.
final class FrameSubscription<Frame: Sendable>: Sendable {
    let subscriber: Subscriber
    private let channel: FrameChannel<Frame>
    private let coordinator: DownloadCoordinator
    private let hasJoined = Locked(false)

    init(_ subscriber: Subscriber, channel: FrameChannel<Frame>, coordinator: DownloadCoordinator) {
        self.subscriber = subscriber
        self.channel = channel
        self.coordinator = coordinator
    }

    deinit { cancel() }

    /// Returns the newest state that has not been taken, waiting if necessary; `nil` after the final one.
    func next() async throws -> Frame? {
        try await withTaskCancellationHandler {
            join()
            return try await channel.next()
        } onCancel: {
            cancel()
        }
    }

    /// Joins the download, unless that has been done.
    func join() {
        let joins = hasJoined.withLock { hasJoined in
            defer { hasJoined = true }
            return !hasJoined
        }
        if joins { coordinator.post(.join(subscriber)) }
    }

    /// Ends the stream, and leaves the download.
    func cancel() {
        guard !channel.isFinished else { return }
        channel.finish(.failure(CancellationError()))
        coordinator.post(.leave(subscriber.id))
    }
}
