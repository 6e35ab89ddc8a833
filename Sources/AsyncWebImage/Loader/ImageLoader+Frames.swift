extension ImageLoader {
    /// Returns a stream of previews of the image while it arrives, followed by the final image.
    ///
    /// The download starts when the first preview is requested. Previews are rendered on demand: a slow consumer skips
    /// some, but always gets the final image. Ending the loop early stops the download, unless another
    /// caller needs it. The stream supports a single consumer. It throws ``ImageError``, or `CancellationError` if the
    /// download is canceled. If the task is canceled, the loop can also end without an error.
    public func previews(for request: ImageRequest) -> AsyncThrowingStream<ImagePreview, any Error> {
        if !request.fallbackURLs.isEmpty { return tryingStream(request) { self.previews(for: $0) } }
        do {
            return stream(try previewSubscription(request, nil))
        } catch {
            return AsyncThrowingStream { throw error }
        }
    }

    /// Returns a stream that delivers each frame of an animation once, in order, as soon as it has been received.
    ///
    /// A still image is delivered as one frame.
    ///
    /// The download starts when the first frame is requested, and is shared with ``animation(for:)``; a consumer that
    /// joins late also begins with the first frame. Frames are decoded on demand, on the decoder's threads, scaled and
    /// upright according to the request; only one is held at a time, in addition to the compressed file. The stream
    /// ends with the last frame; use ``animation(for:)`` for the number of repetitions. If the server sends a different
    /// file on a retry, later frames are from that file. If the download or the decode fails, the stream throws
    /// ``ImageError`` after the complete frames; with ``DecodeOptions/allowsPartial``, it ends after them instead, if
    /// there are any. Ending the loop early stops the download, unless another caller needs it. If the download is
    /// canceled, the stream throws `CancellationError`; if the task is canceled, the loop can also end without an
    /// error. The stream supports a single consumer.
    public func animationFrames(for request: ImageRequest) -> AsyncThrowingStream<AnimationFrame, any Error> {
        if !request.fallbackURLs.isEmpty { return tryingStream(request) { self.animationFrames(for: $0) } }
        do {
            return stream(try frameSubscription(request, nil), request)
        } catch {
            return AsyncThrowingStream { throw error }
        }
    }

    /// Starts loading the image and returns a handle with which you can consume its previews, and observe, cancel, and
    /// prioritize the load; see ``previews(for:)``.
    public func previewTask(for request: ImageRequest) -> StreamTask<ImagePreview> {
        start(request, previewSubscription) { subscription, _ in self.stream(subscription) }
    }

    /// Starts loading the animation and returns a handle with which you can consume its frames, and observe, cancel,
    /// and prioritize the load; see ``animationFrames(for:)``.
    public func animationFrameTask(for request: ImageRequest) -> StreamTask<AnimationFrame> {
        start(request, frameSubscription) { self.stream($0, $1) }
    }
}

extension ImageLoader {
    private func start<State, Frame>(
        _ request: ImageRequest, response: ResponseAccess = ResponseAccess(),
        _ subscription:
            @escaping @Sendable (ImageRequest, ResponseAccess) throws(ImageError) -> FrameSubscription<State>,
        _ stream: @escaping @Sendable (FrameSubscription<State>, ImageRequest) -> AsyncThrowingStream<Frame, any Error>
    ) -> StreamTask<Frame> {
        if !request.fallbackURLs.isEmpty {
            return tryingStreamTask(request) { self.start($0, response: $1, subscription, stream) }
        }
        do {
            let subscription = try subscription(request, response)
            subscription.join()
            let control = LoadControl(
                id: subscription.subscriber.id, priority: request.priority, coordinator: coordinator)
            return StreamTask(
                request: request, stream: stream(subscription, request), response: response, control: control
            ) { [weak subscription] in subscription?.cancel() }
        } catch {
            let control = LoadControl(
                id: coordinator.newSubscriberID(), priority: request.priority, coordinator: coordinator)
            return StreamTask(
                request: request, stream: AsyncThrowingStream { throw error }, response: response, control: control
            ) {}
        }
    }

    private func previewSubscription(
        _ request: ImageRequest, _ response: ResponseAccess?
    ) throws(ImageError) -> FrameSubscription<ImagePreview> {
        let channel = FrameChannel<ImagePreview>()
        return try subscription(request, channel, .previews(request.recipe, channel), response)
    }

    private func frameSubscription(
        _ request: ImageRequest, _ response: ResponseAccess?
    ) throws(ImageError) -> FrameSubscription<AnimatedImage> {
        let channel = FrameChannel<AnimatedImage>(failsAtOnce: false)
        return try subscription(request, channel, .animationFrames(request.recipe, channel), response)
    }

    private func subscription<Frame>(
        _ request: ImageRequest, _ channel: FrameChannel<Frame>, _ product: Subscriber.Product,
        _ response: ResponseAccess?
    ) throws(ImageError) -> FrameSubscription<Frame> {
        var subscriber = Subscriber(request, try fetchKey(request), id: coordinator.newSubscriberID(), product: product)
        subscriber.response = response
        return FrameSubscription(subscriber, channel: channel, coordinator: coordinator)
    }

    private func stream(
        _ subscription: FrameSubscription<ImagePreview>
    ) -> AsyncThrowingStream<ImagePreview, any Error> {
        AsyncThrowingStream { try await subscription.next() }
    }

    private func stream(
        _ subscription: FrameSubscription<AnimatedImage>, _ request: ImageRequest
    ) -> AsyncThrowingStream<AnimationFrame, any Error> {
        let frames = ArrivingFrames(subscription, decoder: decoder, url: URLSources.displayText(of: request.url))
        return AsyncThrowingStream { [threads = decoder.threads] in
            try await withTaskExecutorPreference(threads) { try await frames.next() }
        }
    }
}
