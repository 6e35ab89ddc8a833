public import HTTPTransport
import Threading
public import ResponseCache

/// The body of a response in pieces, returned by ``ImageLoader/bytes(for:)``.
///
/// The sequence supports a single consumer. The download starts when the first piece is requested and stops when the
/// loop ends, unless another caller needs it. If the body is larger than ``DownloadConfiguration/maximumReplayBytes``,
/// a slow consumer slows down the transfer: about 1 MiB is read ahead.
///
/// ```swift
/// let body = loader.bytes(for: ImageRequest("https://example.com/photo.jpg"))
/// for try await part in body {
///     switch part {
///     case .bytes(let piece): try file.append(piece)
///     case .restart: try file.truncate()
///     }
/// }
/// ```
public struct ImageBytes: AsyncSequence, Sendable {
    /// An element of the sequence.
    public enum Part: Sendable, Hashable {
        /// The next bytes, never empty.
        case bytes([UInt8])
        /// The download has started over, possibly with a different file: discard all bytes delivered before, because
        /// the next ones are the first of the body.
        ///
        /// This occurs when a transfer is interrupted and the server cannot continue the same file.
        case restart
    }

    private let subscription: BodySubscription

    init(_ subscription: BodySubscription) {
        self.subscription = subscription
    }

    /// The status and header fields of the response; `nil` before the first bytes.
    public var head: ResponseHead? { subscription.feed.head }

    /// The source of the bytes for this consumer; `nil` before the first bytes.
    public var source: ResponseSource? { subscription.feed.source }

    /// Notifies the download that this consumer will not read for a while, so that other callers of the same download
    /// do not wait for it.
    ///
    /// This applies until the consumer requests the next part. In the meantime, the bytes that other callers read are
    /// kept for it.
    public func suspendReading() { subscription.feed.suspendReading() }

    /// Creates the iterator of the single consumer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// An iterator over the parts of a body.
    ///
    /// Releasing the iterator stops the download, unless another caller needs it.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let lease: Lease

        fileprivate init(_ subscription: BodySubscription) {
            lease = Lease(subscription)
        }

        /// Returns the next part; `nil` after the last byte of a complete body.
        ///
        /// Throws ``ImageError`` if the response is rejected or incomplete, and `CancellationError` if the task is
        /// canceled.
        public mutating func next() async throws -> Part? { try await lease.subscription.next() }
    }

    /// An object that cancels the subscription when the iterator, which holds it, is released.
    private final class Lease: Sendable {
        let subscription: BodySubscription

        init(_ subscription: BodySubscription) {
            self.subscription = subscription
        }

        deinit { subscription.cancel() }
    }
}

/// Joins a download when its bytes are first requested, and leaves it when it is released.
final class BodySubscription: Sendable {
    let feed: BodyStream
    private let subscriber: Result<Subscriber, ImageError>
    private let coordinator: DownloadCoordinator
    private let hasJoined = Locked(false)

    init(_ subscriber: Result<Subscriber, ImageError>, feed: BodyStream, coordinator: DownloadCoordinator) {
        self.subscriber = subscriber
        self.feed = feed
        self.coordinator = coordinator
    }

    deinit { cancel() }

    func next() async throws -> ImageBytes.Part? {
        try await withTaskCancellationHandler {
            let joins = hasJoined.withLock { hasJoined in
                defer { hasJoined = true }
                return !hasJoined
            }
            if joins { join() }
            do {
                return switch try await feed.next() {
                case .bytes(let bytes): .bytes(bytes)
                case .restart: .restart
                case nil: nil
                }
            } catch {
                // The feed can end with an error before `cancel()`, which then does not leave.
                if case .success(let subscriber) = subscriber { coordinator.post(.leave(subscriber.id)) }
                throw error
            }
        } onCancel: {
            cancel()
        }
    }

    private func join() {
        switch subscriber {
        case .success(let subscriber): coordinator.post(.join(subscriber))
        case .failure(let error): feed.finish(.failure(error))
        }
    }

    func cancel() {
        guard !feed.isFinished, case .success(let subscriber) = subscriber else { return }
        coordinator.post(.leave(subscriber.id, keeping: feed.leave()))
    }
}
