public import HTTPTransport

/// A handle to the loading of an image.
public typealias ImageTask = LoadTask<ImageResponse>

/// A handle to the loading of an image, an animation, a body, or the properties of a file.
///
/// Any number of tasks can await it. A handle takes a fraction of the resources of a Swift `Task` that awaits the
/// loader. Releasing the handle does not stop the load; ``cancel()`` does.
public final class LoadTask<Value: Sendable>: Sendable {
    /// The request whose result is loaded.
    public let request: ImageRequest
    private let answer: OneShot<Value>
    private let response: ResponseAccess
    private let headOfValue: @Sendable (Value) -> ResponseHead
    private let control: any LoadController

    init(
        request: ImageRequest, answer: OneShot<Value>, response: ResponseAccess,
        head: @escaping @Sendable (Value) -> ResponseHead,
        control: any LoadController
    ) {
        self.request = request
        self.answer = answer
        self.response = response
        headOfValue = head
        self.control = control
    }

    /// The loaded value, available when the load is complete.
    ///
    /// Any number of tasks can await this property, repeatedly. As with the value of a Swift `Task`, canceling a task
    /// that awaits it does not cancel the load.
    ///
    /// Throws ``ImageError``, or `CancellationError` after ``cancel()``.
    public var value: Value {
        // Callers in other modules cannot specialize it; looking up the metadata of its types takes a tenth of the
        // instructions of an additional caller. Swift 6.3 has this attribute without an underscore, too.
        @_specialize(where Value == ResponseBody) @_specialize(where Value == ImageResponse)
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
        control.cancel()
    }

    /// A stream of the progress until the load is complete.
    ///
    /// Each access creates a separate stream. A slow consumer skips intermediate states. If the load joins an active
    /// download, the current progress is available immediately. Results from ``ImageLoader/imageCache`` have no
    /// progress. If a stored response has another digest than expected, the stream ends before it is downloaded again.
    public var progress: AsyncStream<DownloadProgress> { control.progress }

    /// The priority of this load, which can be changed at any time.
    ///
    /// A shared download has the highest priority of its callers.
    public var priority: DownloadPriority {
        get { control.priority }
        set { control.priority = newValue }
    }
}

extension LoadTask: LoadController {}
