public import HTTPSemantics
public import HTTPTransport
public import ImageCodecs
public import ResponseCache

/// The body of a response in pieces, returned by ``ImageLoader/bytes(for:readsHeader:)``.
///
/// The sequence supports a single consumer. The download stops when the loop ends, or the value is released, unless
/// another caller needs it. If the body is larger than ``DownloadConfiguration/maximumReplayBytes``, a slow consumer
/// slows down the transfer: about 1 MiB is read ahead.
///
/// ```swift
/// let body = try await loader.bytes(for: ImageRequest("https://example.com/photo.jpg"))
/// print(body.head.status, body.head.contentLength ?? "?")
/// for try await piece in body { try file.append(piece) }
/// ```
public struct ImageBytes: AsyncSequence, Sendable {
    /// The error of a body after whose first pieces the download has started over, possibly with a different file.
    ///
    /// This occurs when a transfer is interrupted and the server cannot continue the same file. All bytes delivered before
    /// are void. To receive the new body from its first byte, call ``AsyncIterator/next()`` of the same iterator again.
    public struct StartedOver: Error, Sendable, Hashable, CustomStringConvertible {
        /// A sentence that describes the error.
        public var description: String { "the download was interrupted, and has started over" }
    }

    private let subscription: BodySubscription
    private let first: (head: ResponseHead, source: ResponseSource)

    init(_ subscription: BodySubscription, _ head: ResponseHead, _ source: ResponseSource) {
        self.subscription = subscription
        first = (head, source)
    }

    /// The status and header fields of the response.
    public var head: ResponseHead { subscription.feed.head ?? first.head }
    /// How long the response stays fresh, from now; determined on every access.
    public var freshness: Freshness { head.freshness() }
    /// The source of the bytes for this consumer.
    public var source: ResponseSource { subscription.feed.source ?? first.source }
    /// The format, size, and other properties in the file's header; `nil` if they were not requested.
    public var header: ImageHeader? { subscription.header }

    /// Notifies the download that this consumer will not read for a while, so that other callers of the same download
    /// do not wait for it.
    ///
    /// This applies until the consumer requests the next piece. In the meantime, the bytes that other callers read are
    /// kept for it.
    public func suspendReading() { subscription.feed.suspendReading() }

    /// Creates the iterator of the single consumer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// An iterator over the pieces of a body.
    ///
    /// Releasing the iterator stops the download, unless another caller needs it.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private let lease: Lease

        fileprivate init(_ subscription: BodySubscription) {
            lease = Lease(subscription)
        }

        /// Returns the next bytes, never empty; `nil` after the last byte of a complete body.
        ///
        /// Throws ``ImageError`` if the body is incomplete, ``ImageBytes/StartedOver``, and `CancellationError` if the
        /// task is canceled.
        public mutating func next() async throws -> [UInt8]? { try await lease.subscription.next() }
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
