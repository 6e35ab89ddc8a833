import Threading

/// One run of ``ImageLoader/frames(for:)``: joins the download with the first frame that is asked for, and leaves it
/// when the stream is let go.
final class FrameSubscription: Sendable {
    private let subscriber: Subscriber
    private let channel: FrameChannel
    private let coordinator: DownloadCoordinator
    private let hasJoined = Locked(false)

    init(_ subscriber: Subscriber, channel: FrameChannel, coordinator: DownloadCoordinator) {
        self.subscriber = subscriber
        self.channel = channel
        self.coordinator = coordinator
    }

    deinit { cancel() }

    /// The next frame; nil after the final one.
    func next() async throws -> ImageFrame? {
        try await withTaskCancellationHandler {
            let joins = hasJoined.withLock { hasJoined in
                defer { hasJoined = true }
                return !hasJoined
            }
            if joins { coordinator.post(.join(subscriber)) }
            return try await channel.next()
        } onCancel: {
            cancel()
        }
    }

    private func cancel() {
        guard !channel.isFinished else { return }
        channel.finish(.failure(CancellationError()))
        coordinator.post(.leave(subscriber.id))
    }
}
