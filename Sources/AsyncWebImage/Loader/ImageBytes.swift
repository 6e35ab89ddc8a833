public import HTTPTransport
import Threading
public import ResponseCache

/// The body of a response, piece by piece, as ``ImageLoader/bytes(for:)`` downloads it.
///
/// For one consumer. The download starts with the first piece asked for and stops when the loop is left, unless somebody
/// else wants it. A consumer that is slow holds the transfer up: of a body larger than
/// ``DownloadConfiguration/replayLimit`` about 1 MiB is read ahead.
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
    /// What a body consists of.
    public enum Part: Sendable, Hashable {
        /// The next bytes; never empty.
        case bytes([UInt8])
        /// The download has begun anew, with a file that may be another: all bytes delivered before are void, and the next
        /// ones are the first.
        ///
        /// Happens when a transfer breaks off and the server cannot continue the same file.
        case restart
    }

    private let subscription: BodySubscription

    init(_ subscription: BodySubscription) {
        self.subscription = subscription
    }

    /// Status and header fields of the response; nil before the first bytes.
    public var head: ResponseHead? { subscription.feed.head }

    /// Where the bytes come from, for this consumer; nil before the first bytes.
    public var source: ResponseSource? { subscription.feed.source }

    /// Says that nothing will be asked for for a while, so that others who share the download need not wait for this
    /// consumer.
    ///
    /// Holds until the next part is asked for. Meanwhile the bytes that the others read are kept for this consumer.
    public func park() { subscription.feed.park() }

    /// The iterator of the one consumer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// Delivers the parts; leaves the download when it is let go.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let lease: Lease

        fileprivate init(_ subscription: BodySubscription) {
            lease = Lease(subscription)
        }

        /// The next part; nil after the last byte of a complete body.
        ///
        /// Throws ``ImageError`` if the response is refused or there is no (whole) body, and `CancellationError`.
        public mutating func next() async throws -> Part? { try await lease.subscription.next() }
    }

    /// Held by the iterator, and so by the loop.
    private final class Lease: Sendable {
        let subscription: BodySubscription

        init(_ subscription: BodySubscription) {
            self.subscription = subscription
        }

        deinit { subscription.cancel() }
    }
}

/// Joins a download when its bytes are first asked for, and leaves it when it is let go.
final class BodySubscription: Sendable {
    let feed: BodyFeed
    private let subscriber: Result<Subscriber, ImageError>
    private let coordinator: DownloadCoordinator
    private let hasJoined = Locked(false)

    init(_ subscriber: Result<Subscriber, ImageError>, feed: BodyFeed, coordinator: DownloadCoordinator) {
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
            return switch try await feed.next() {
            case .bytes(let bytes): .bytes(bytes)
            case .restart: .restart
            case nil: nil
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
        feed.finish(.failure(CancellationError()))
        coordinator.post(.leave(subscriber.id))
    }
}
