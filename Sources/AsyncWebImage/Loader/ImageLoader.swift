import ResponseCache
import HTTPTransport
import ImageCodecs
import Logging

#if Tracing
import Tracing
#endif

/// Loads images from URLs: each is downloaded once however many callers want it, decoded while it arrives, and kept.
public final class ImageLoader: Sendable {
    /// Downloads under way.
    public let coordinator: DownloadCoordinator
    /// Decodes under way.
    public let decoder: ImageDecoder
    /// Images that are finished.
    public let cache: MemoryCache
    /// What a request means that says nothing of it.
    private let cachePolicy: CachePolicy

    /// A loader with connections, threads and a cache of its own.
    ///
    /// `transport` is a ``CurlTransport`` made from the configuration unless another is given; it keeps at least as many
    /// connections as there may be downloads. `clock` is what rates of requests and delays between tries are measured by.
    public init(
        configuration: Configuration = Configuration(), transport: (any Transport)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        var configuration = configuration
        configuration.downloads.accept(configuration.decoding.customFormats)
        var connections = configuration.transport
        connections.connectionCacheSize = max(
            connections.connectionCacheSize, configuration.downloads.maximumConcurrentDownloads)
        decoder = ImageDecoder(configuration: configuration.decoding)
        cache = MemoryCache(limit: configuration.memoryCacheLimit)
        cachePolicy = configuration.cachePolicy
        let environment = DownloadEnvironment(
            configuration, transport: transport ?? CurlTransport(configuration: connections), decoder: decoder,
            cache: cache, clock: clock)
        coordinator = DownloadCoordinator(environment, configuration: configuration.downloads)
        if let metrics = configuration.metrics.map(DownloadMetrics.init) {
            coordinator.listeners.add { metrics.note($0) }
        }
    }

    /// The image, decoded, scaled and upright as the request asks; of an animation, its first frame.
    ///
    /// With ``DecodeOptions/allowsPartial`` a transfer that breaks off gives what had come of the image, as a file that ends
    /// too early does; partial images are not cached. Throws ``ImageError``; canceling the task throws `CancellationError`
    /// and touches no other caller.
    public func image(for request: ImageRequest) async throws -> ImageResponse {
        let key = try fetchKey(request)
        if let variant = key.known(request.options), let known = cache.response(for: variant) { return known }
        return try await answer(to: request, key) { .image(request.options, $0) }
    }

    /// All frames of the image, scaled and upright as the request asks, decoded when they are asked for.
    ///
    /// The compressed file is held as long as the animation. A still image comes decoded, as an animation of one frame.
    /// Nothing is cached. Throws ``ImageError``; canceling the task throws `CancellationError` and touches no other
    /// caller.
    public func animation(for request: ImageRequest) async throws -> AnimationResponse {
        try await answer(to: request, try fetchKey(request)) { .animation(request.options, $0) }
    }

    /// The body as it came, whatever it is; nothing is decoded.
    ///
    /// Throws ``ImageError``; canceling the task throws `CancellationError` and touches no other caller.
    public func data(for request: ImageRequest) async throws -> ImageData {
        try await answer(to: request, try fetchKey(request)) { .data($0) }
    }

    /// The body as it comes, piece by piece, whatever it is; nothing is decoded, and no more of it is held than the
    /// consumer lags behind.
    ///
    /// Shares a download like every other request. See ``ImageBytes`` for what a consumer has to do when a download begins
    /// anew. Errors, ``ImageError``, are thrown by the sequence.
    public func bytes(for request: ImageRequest) -> ImageBytes {
        let feed = BodyFeed()
        let subscriber = Result { () throws(ImageError) in
            Subscriber(request, try fetchKey(request), id: coordinator.newSubscriberID(), wish: .bytes(feed))
        }
        return ImageBytes(BodySubscription(subscriber, feed: feed, coordinator: coordinator))
    }

    /// Format, size and so on, from no more of the body than its header needs; then the download is stopped.
    ///
    /// With `readsAnimation` a file that may be an animation is read to its end, in the same download: its frames are
    /// counted, and there is an ``ImageInfo/animation``. Throws ``ImageError``; canceling the task throws
    /// `CancellationError` and touches no other caller.
    public func info(for request: ImageRequest, readsAnimation: Bool = false) async throws -> ImageInfo {
        try await answer(to: request, try fetchKey(request)) { .info(readsAnimation: readsAnimation, $0) }
    }

    /// Previews of the image while it arrives, then the final image.
    ///
    /// The download starts with the first frame asked for. Frames are made on demand: a slow consumer sees fewer and
    /// newer ones, and always the final one. Ending the loop early leaves the download. For one consumer.
    public func frames(for request: ImageRequest) -> AsyncThrowingStream<ImageFrame, any Error> {
        let channel = FrameChannel<ImageFrame>()
        do {
            let subscription = try subscription(request, channel, .frames(request.options, channel))
            return AsyncThrowingStream { try await subscription.next() }
        } catch {
            return AsyncThrowingStream { throw error }
        }
    }

    /// The frames of an animation in their order, each once, as soon as its bytes have come; of a still image, that.
    ///
    /// The download starts with the first frame asked for, and is shared with ``animation(for:)``; who joins late begins with
    /// the first frame all the same. Frames are decoded when they are asked for, on the decoder's threads, scaled and upright
    /// as the request asks; besides the compressed file one at a time is held. The stream ends with the last frame; how often
    /// the animation is shown, ``animation(for:)`` tells. Where the server sends another file at the second try, the frames
    /// from there on are that file's. Throws ``ImageError``, after the frames that were complete; with
    /// ``DecodeOptions/allowsPartial`` it ends with them instead, if there are any. Ending the loop early leaves the
    /// download. For one consumer.
    public func animationFrames(for request: ImageRequest) -> AsyncThrowingStream<AnimationFrame, any Error> {
        let channel = FrameChannel<AnimatedImage>(failsAtOnce: false)
        do {
            let frames = ArrivingFrames(
                try subscription(request, channel, .animationFrames(request.options, channel)), decoder: decoder,
                url: request.url)
            return AsyncThrowingStream { [threads = decoder.threads] in
                try await withTaskExecutorPreference(threads) { try await frames.next() }
            }
        } catch {
            return AsyncThrowingStream { throw error }
        }
    }

    /// Starts to load the image and returns a handle to await, cancel and prioritise it by.
    public func task(for request: ImageRequest) -> ImageTask {
        start(request) { .image(request.options, $0) }
    }

    /// Starts to load the body as it comes and returns a handle to await, cancel and prioritise it by.
    public func dataTask(for request: ImageRequest) -> LoadTask<ImageData> {
        start(request) { .data($0) }
    }

    private func start<Value>(
        _ request: ImageRequest, _ wish: (OneShot<Value>) -> Subscriber.Wish
    ) -> LoadTask<Value> {
        let answer = OneShot<Value>()
        let id = coordinator.newSubscriberID()
        do {
            coordinator.post(.join(Subscriber(request, try fetchKey(request), id: id, wish: wish(answer))))
        } catch {
            answer.resolve(.failure(error))
        }
        return LoadTask(id: id, answer: answer, priority: request.priority, coordinator: coordinator)
    }

    private func subscription<Frame>(
        _ request: ImageRequest, _ channel: FrameChannel<Frame>, _ wish: Subscriber.Wish
    ) throws(ImageError) -> FrameSubscription<Frame> {
        let subscriber = Subscriber(request, try fetchKey(request), id: coordinator.newSubscriberID(), wish: wish)
        return FrameSubscription(subscriber, channel: channel, coordinator: coordinator)
    }

    private func answer<Value: Sendable>(
        to request: ImageRequest, _ key: FetchKey, _ wish: (OneShot<Value>) -> Subscriber.Wish
    ) async throws -> Value {
        let answer = OneShot<Value>()
        let id = coordinator.newSubscriberID()
        let subscriber = Subscriber(request, key, id: id, wish: wish(answer))
        return try await withTaskCancellationHandler {
            coordinator.post(.join(subscriber))
            return try await answer.value
        } onCancel: {
            answer.resolve(.failure(CancellationError()))
            coordinator.post(.leave(id))
        }
    }
}

extension Subscriber {
    fileprivate init(_ request: ImageRequest, _ key: FetchKey, id: ID, wish: Wish) {
        self.init(
            id: id, key: key, wish: wish, priority: request.priority, finishesOnShutdown: request.finishesOnShutdown)
        #if Tracing
        context = ServiceContext.current
        #endif
    }
}

extension ImageLoader {
    private func fetchKey(_ request: ImageRequest) throws(ImageError) -> FetchKey {
        guard let url = try? HTTPURL(request.url) else { throw .invalidURL(HTTPURL.displayText(of: request.url)) }
        var headerFields = request.headerFields
        request.knownVersion?.add(to: &headerFields)
        return FetchKey(
            url: url, headerFields: headerFields, credential: request.credential,
            handlesCookies: request.handlesCookies, cachePolicy: request.cachePolicy ?? cachePolicy)
    }
}
