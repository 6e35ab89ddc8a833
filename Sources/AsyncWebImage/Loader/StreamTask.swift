public import HTTPTransport

/// A handle to the loading of previews or of the frames of an animation.
///
/// The download starts when the handle is created. Releasing the handle and its stream stops the load, unless another
/// caller needs it.
public final class StreamTask<Element: Sendable>: Sendable {
    /// The request whose previews or frames are loaded.
    public let request: ImageRequest
    /// The stream of the previews or frames, which supports a single consumer.
    ///
    /// Throws ``ImageError``, or `CancellationError` after ``cancel()``. Leaving the loop over it early stops the load
    /// when the handle is released as well; ``cancel()`` stops it immediately.
    public let stream: AsyncThrowingStream<Element, any Error>

    private let response: ResponseAccess
    private let control: any LoadController
    private let cancelStream: @Sendable () -> Void

    init(
        request: ImageRequest, stream: AsyncThrowingStream<Element, any Error>, response: ResponseAccess,
        control: any LoadController,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.request = request
        self.stream = stream
        self.response = response
        self.control = control
        cancelStream = cancel
    }

    /// The status and header fields of the response; `nil` before they have been received, and after a failure.
    ///
    /// While the body is being received, a retry can replace the response.
    public var head: ResponseHead? { response.head }

    /// Cancels the load for this handle; other callers that share the download are not affected.
    ///
    /// The stream throws `CancellationError`. Frames of an animation that have been received may be delivered first.
    public func cancel() { cancelStream() }

    /// A stream of the progress until the load is complete.
    ///
    /// Each access creates a separate stream. A slow consumer skips intermediate states. If the load joins an active
    /// download, the current progress is available immediately.
    public var progress: AsyncStream<DownloadProgress> { control.progress }

    /// The priority of this load, which can be changed at any time.
    ///
    /// A shared download has the highest priority of its callers.
    public var priority: DownloadPriority {
        get { control.priority }
        set { control.priority = newValue }
    }
}

extension StreamTask: LoadController {}
