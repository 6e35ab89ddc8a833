import HTTPTransport
public import ResponseCache
import ImageCodecs
import Logging
import Threading

#if Tracing
import Tracing
#endif

/// An object that downloads, decodes, and caches images.
///
/// Images are decoded while they arrive. Concurrent requests for the same image share one download.
public final class ImageLoader: Sendable {
    /// The coordinator, which observes, configures, suspends, and cancels downloads.
    public let coordinator: DownloadCoordinator
    /// The decoder of images.
    public let decoder: ImageDecoder
    /// The cache of decoded images.
    public let imageCache: any ImageCache
    /// The cache of responses, if any.
    public let responseCache: ResponseCache?
    private let images: FinishedImages
    private let memoryPressure: MemoryPressureMonitor?
    /// The policy for requests that specify none.
    private let cachePolicy: CachePolicy
    private let cacheKeyRule: (@Sendable (_ url: String) -> String?)?
    private let sources: URLSources

    /// Creates a loader with its own connections, threads, and cache.
    ///
    /// By default, `transport` is a ``CurlTransport`` with the given configuration that keeps at least as many
    /// connections as there can be downloads. `clock` measures rates, the delays between attempts, the total time of a
    /// download, the age of images in the loader's own ``MemoryCache``, and the grace period of a shutdown.
    public init(
        configuration: Configuration = Configuration(), transport: (any Transport)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        var configuration = configuration
        configuration.downloads.accept(configuration.decoding.customFormats)
        var connections = configuration.transport
        connections.keepIdleConnections(of: configuration.downloads.maximumConcurrentDownloads)
        let decoder = ImageDecoder(
            configuration: configuration.decoding, clock: Stopwatch(clock),
            metrics: configuration.metrics.map(DecodeMetrics.init))
        self.decoder = decoder
        let cacheMetrics = configuration.metrics.map(MemoryCacheMetrics.init)
        let imageCache: any ImageCache =
            configuration.imageCache
            ?? MemoryCache(
                maximumBytes: configuration.maximumMemoryCacheBytes, maximumAge: configuration.maximumMemoryCacheAge,
                clock: Stopwatch(clock)
            ) { cacheMetrics?.recordEvictions($0) }
        self.imageCache = imageCache
        images = FinishedImages(cache: imageCache, metrics: cacheMetrics)
        let bodies = BufferPool(.bodies(), clock: Stopwatch(clock))
        memoryPressure =
            configuration.trimsUnderMemoryPressure
            ? MemoryPressureMonitor { Self.releaseMemory(of: imageCache, bodies, decoder.pixels) } : nil
        responseCache = configuration.responseCache
        if let metrics = configuration.metrics { responseCache?.record(metrics) }
        cachePolicy = configuration.cachePolicy
        cacheKeyRule = configuration.cacheKeyRule
        sources = URLSources(configuration.sources)
        var environment = DownloadEnvironment(
            transport: transport ?? CurlTransport(configuration: connections), decoder: decoder, buffers: bodies,
            images: images, responseCache: configuration.responseCache, previews: configuration.previews,
            logger: configuration.logger, recordsQueries: configuration.recordsQueries, clock: Stopwatch(clock))
        #if Tracing
        environment.tracing = configuration.tracing
        #endif
        coordinator = DownloadCoordinator(environment, configuration: configuration.downloads)
        if let metrics = configuration.metrics {
            let metrics = DownloadMetrics(metrics) { [bytes = coordinator.bytesInFlight] in bytes.count }
            coordinator.listeners.add { metrics.note($0) }
        }
    }

    /// Releases memory for other processes: half of the cached images, and the buffers that are kept for reuse.
    static func releaseMemory(of imageCache: any ImageCache, _ bodies: BufferPool, _ pixels: BufferPool) {
        imageCache.trim(to: imageCache.byteCount / 2)
        bodies.removeAll()
        pixels.removeAll()
    }

    /// The current load, which is determined without waiting, for example to refuse work before it begins.
    ///
    /// The values are read one after another, and requests of this moment may be missing. For exact numbers, await
    /// ``DownloadCoordinator/activity``.
    public var load: LoadEstimate { coordinator.load }

    /// Returns the image, decoded, scaled, and upright according to the request.
    ///
    /// For an animation, the result is its first frame.
    ///
    /// With ``DecodeOptions/allowsPartial``, if the transfer is interrupted or the file is truncated, this method
    /// returns the part of the image that was received; partial images are not cached. Throws ``ImageError``; canceling
    /// the task throws `CancellationError` and does not affect other callers.
    public func image(for request: ImageRequest) async throws -> ImageResponse {
        if !request.fallbackURLs.isEmpty { return try await trying(request) { try await image(for: $0) } }
        let key = try fetchKey(request)
        let cacheKey = key.cacheKeyForReading(request.recipe, digest: request.expectedDigest)
        if let cached = cacheKey.flatMap(images.response) {
            request.slot?.keep()
            if let violation = request.requirements?.violation(by: cached.image.header) {
                throw ImageError.unsuitable(violation, url: key.url.string)
            }
            return cached
        }
        return try await answer(to: request, key) { .image(request.recipe, $0) }
    }

    /// Returns the image at `url`, scaled so that neither side is longer than `maximumSide` pixels; see ``image(for:)``.
    public func image(for url: String, maximumSide: Int) async throws -> ImageResponse {
        try await image(for: ImageRequest(url, maximumSide: maximumSide))
    }

    /// Returns the image and the undecoded body from which it was decoded, of one download; see ``image(for:)`` and
    /// ``data(for:)``.
    ///
    /// If the image is in ``imageCache``, only the body is loaded, which can be a newer one.
    public func imageAndData(for request: ImageRequest) async throws -> (image: ImageResponse, data: ResponseBody) {
        if !request.fallbackURLs.isEmpty { return try await trying(request) { try await imageAndData(for: $0) } }
        // Otherwise one of them could be complete, and the download over, before the other has joined.
        let (image, data) = await coordinator.inOneTurn { (imageTask(for: request), dataTask(for: request)) }
        return try await withTaskCancellationHandler {
            do {
                return try await (image.value, data.value)
            } catch {
                data.cancel()
                throw error
            }
        } onCancel: {
            image.cancel()
            data.cancel()
        }
    }

    /// Returns all frames of the image, scaled and upright according to the request, decoded on demand.
    ///
    /// The animation holds the compressed file. A still image is returned decoded, as an animation of one frame. The
    /// animation is not stored in ``imageCache``. Throws ``ImageError``; canceling the task throws `CancellationError`
    /// and does not affect other callers.
    public func animation(for request: ImageRequest) async throws -> AnimationResponse {
        if !request.fallbackURLs.isEmpty { return try await trying(request) { try await animation(for: $0) } }
        return try await answer(to: request, try fetchKey(request)) { .animation(request.recipe, $0) }
    }

    /// Returns the response body, undecoded, regardless of its format.
    ///
    /// Throws ``ImageError``; canceling the task throws `CancellationError` and does not affect other callers.
    public func data(for request: ImageRequest) async throws -> ResponseBody {
        if !request.fallbackURLs.isEmpty { return try await trying(request) { try await data(for: $0) } }
        let key = try fetchKey(request)
        if request.expectedDigest == nil, !Task.isCancelled, let data = coordinator.storedData(for: key) {
            request.slot?.keep()
            return data
        }
        return try await answer(to: request, key) { .data($0) }
    }

    /// Waits for the head of the response and the first piece of its body, and returns the pieces as they arrive,
    /// undecoded.
    ///
    /// With `readsHeader`, or if the request has ``ImageRequest/requirements``, this method also waits for the header of the
    /// file, until which the pieces are held: no byte of a file that is not an image, or does not meet the requirements,
    /// is delivered, not even if the download starts over. Otherwise, only bytes that the consumer has not read yet are
    /// held for it. The download can be shared with other requests. Throws ``ImageError``; canceling the task throws
    /// `CancellationError`.
    public func bytes(for request: ImageRequest, readsHeader: Bool = false) async throws -> ImageBytes {
        if !request.fallbackURLs.isEmpty {
            return try await trying(request) { try await bytes(for: $0, readsHeader: readsHeader) }
        }
        let feed = BodyStream()
        let subscriber = Subscriber(
            request, try fetchKey(request), id: coordinator.newSubscriberID(), product: .bytes(feed))
        return try await BodySubscription(
            subscriber, feed: feed, coordinator: coordinator, readsHeader: readsHeader
        ).open()
    }

    /// Returns the format, size, and other properties, and stops the download once the header has been received, unless
    /// another caller needs it.
    ///
    /// With `readsAnimation`, a file that can be an animation is read to its end in the same download: its frames are
    /// counted, and ``ImageInfo/animation`` is set. Throws ``ImageError``; canceling the task throws
    /// `CancellationError` and does not affect other callers.
    public func info(for request: ImageRequest, readsAnimation: Bool = false) async throws -> ImageInfo {
        if !request.fallbackURLs.isEmpty {
            return try await trying(request) { try await info(for: $0, readsAnimation: readsAnimation) }
        }
        return try await answer(to: request, try fetchKey(request)) { .info(readsAnimation: readsAnimation, $0) }
    }

    /// Starts loading the image and returns a handle with which you can await, observe, cancel, and prioritize the
    /// load; see ``image(for:)``.
    public func imageTask(for request: ImageRequest) -> ImageTask {
        start(request, \.head) { .image(request.recipe, $0) }
    }

    /// Starts loading all frames of the image and returns a handle with which you can await, observe, cancel, and
    /// prioritize the load; see ``animation(for:)``.
    public func animationTask(for request: ImageRequest) -> LoadTask<AnimationResponse> {
        start(request, \.head) { .animation(request.recipe, $0) }
    }

    /// Starts loading the undecoded body and returns a handle with which you can await, observe, cancel, and prioritize
    /// the load; see ``data(for:)``.
    public func dataTask(for request: ImageRequest) -> LoadTask<ResponseBody> {
        start(request, \.head) { .data($0) }
    }

    /// Starts loading the properties of the file and returns a handle with which you can await, observe, cancel, and
    /// prioritize the load; see ``info(for:readsAnimation:)``.
    public func infoTask(for request: ImageRequest, readsAnimation: Bool = false) -> LoadTask<ImageInfo> {
        start(request, \.head) { .info(readsAnimation: readsAnimation, $0) }
    }

    /// Starts a load and returns its handle; a value that `immediate` returns needs no download.
    func start<Value>(
        _ request: ImageRequest, _ head: @escaping @Sendable (Value) -> ResponseHead,
        response: ResponseAccess = ResponseAccess(),
        immediate: @escaping @Sendable (FetchKey) -> Value? = { _ in nil },
        _ product: @escaping @Sendable (OneShot<Value>) -> Subscriber.Product
    ) -> LoadTask<Value> {
        if !request.fallbackURLs.isEmpty {
            return tryingTask(request, head) {
                self.start($0, head, response: $1, immediate: immediate, product)
            }
        }
        let answer = OneShot<Value>()
        let id = coordinator.newSubscriberID()
        do {
            let key = try fetchKey(request)
            if let value = immediate(key) {
                request.slot?.keep()
                answer.resolve(.success(value))
            } else {
                var subscriber = Subscriber(request, key, id: id, product: product(answer))
                subscriber.response = response
                coordinator.post(.join(subscriber))
            }
        } catch {
            answer.resolve(.failure(error))
        }
        let control = LoadControl(id: id, priority: request.priority, coordinator: coordinator)
        return LoadTask(request: request, answer: answer, response: response, head: head, control: control)
    }

    func answer<Value: Sendable>(
        to request: ImageRequest, _ key: FetchKey, _ product: (OneShot<Value>) -> Subscriber.Product
    ) async throws -> Value {
        let answer = OneShot<Value>()
        let id = coordinator.newSubscriberID()
        let subscriber = Subscriber(request, key, id: id, product: product(answer))
        return try await withTaskCancellationHandler {
            coordinator.join(subscriber)
            return try await answer.value
        } onCancel: {
            answer.resolve(.failure(CancellationError()))
            coordinator.post(.leave(id))
        }
    }
}

extension Subscriber {
    init(_ request: ImageRequest, _ key: FetchKey, id: ID, product: Product) {
        self.init(
            id: id, key: key, product: product, priority: request.priority,
            finishesOnShutdown: request.finishesOnShutdown, conditions: .of(request))
        slot = request.slot
        #if Tracing
        context = ServiceContext.current
        #endif
    }
}

extension ImageLoader {
    func fetchKey(_ request: ImageRequest) throws(ImageError) -> FetchKey {
        let (url, source) = try resolve(request)
        var headerFields = request.headerFields
        request.knownVersion?.add(to: &headerFields)
        let rule = source == nil ? cacheKeyRule : nil
        return FetchKey(
            url: url, headerFields: headerFields, credential: request.credential,
            handlesCookies: request.handlesCookies, cachePolicy: request.cachePolicy ?? cachePolicy,
            cacheKey: request.cacheKey ?? rule.flatMap { $0(url.string) }, transfer: request.transfer, source: source)
    }

    /// Returns the URL of a request, and the route to its image if that is not fetched over HTTP.
    private func resolve(_ request: ImageRequest) throws(ImageError) -> (HTTPURL, SourceRoute?) {
        do throws(TransportError) {
            if let resolution = try sources.resolve(request.url, request.content) { return resolution }
        } catch {
            throw .transport(error)
        }
        throw .invalidURL(URLSources.displayText(of: request.url))
    }
}
