import HTTPTransport
import ImageCodecs
import Threading
#if Tracing
import ResponseCache
import Tracing
#endif

/// A caller that waits for a result of a download.
struct Subscriber: Sendable {
    typealias ID = CallerID

    /// The product that the caller waits for, and its destination.
    ///
    /// Recipes are large, and indirect so that callers, which are copied often, stay small.
    enum Product: Sendable {
        case data(OneShot<ResponseBody>)
        /// The body piece by piece.
        case bytes(BodyStream)
        case info(readsAnimation: Bool, OneShot<ImageInfo>)
        indirect case image(PixelRecipe, OneShot<ImageResponse>)
        indirect case previews(PixelRecipe, FrameChannel<ImagePreview>)
        indirect case animation(PixelRecipe, OneShot<AnimationResponse>)
        /// The image, encoded.
        case file(FileIdentity, OneShot<ImageFile>, StoredFile)
        /// The animation as far as it has been received, repeatedly.
        indirect case animationFrames(PixelRecipe, FrameChannel<AnimatedImage>)
    }

    /// The knowledge about the file that may be stored in the response cache.
    enum StoredFile: Sendable {
        /// Nothing: the cache is to be asked.
        case unknown
        /// There is none, or it is not used.
        case none
        /// It is stale, and the request asks the origin whether it can be used.
        indirect case stale(StaleFile)
    }

    /// A unique number, ascending in the order of requests.
    let id: ID
    var key: FetchKey
    var product: Product
    var priority: DownloadPriority
    /// A Boolean value that indicates whether its download may finish after a shutdown.
    let finishesOnShutdown: Bool
    /// The conditions for accepting the response; usually none.
    var conditions: Conditions?
    /// A Boolean value that indicates whether another caller had requested the download before.
    var isJoined = false
    /// A Boolean value that indicates whether nobody waits: the download brings a stored response up to date.
    var isRefresher = false
    /// The slot that a transfer for the caller needs; `nil` for none.
    var slot: LoadSlot?
    /// The access to the response for the handle of a load.
    var response: ResponseAccess?
    #if Tracing
    /// The service context in which the caller made its request.
    var context: ServiceContext?
    #endif

    /// The conditions of a caller, in an object because few callers have any.
    final class Conditions: Sendable {
        let digest: BodyDigest?
        let requirements: ImageRequirements?
        /// The time within which the caller must have its result.
        let deadline: Duration?

        private struct Time {
            /// The alarm that ends the wait at the deadline; released with the caller.
            var alarm: Task<Void, Never>?
            var hasEnded = false
            var hasPassed = false
        }

        private let time = Locked(Time())

        /// Returns the conditions of a request; `nil` if there are none.
        ///
        /// A failable initializer would create an object, with a lock, for every caller.
        static func of(_ request: ImageRequest) -> Conditions? {
            guard request.expectedDigest != nil || request.requirements != nil || request.deadline != nil else {
                return nil
            }
            return Conditions(request)
        }

        private init(_ request: ImageRequest) {
            (digest, requirements) = (request.expectedDigest, request.requirements)
            deadline = request.deadline.map { min(max(.zero, $0), Stopwatch.longest) }
        }

        deinit { endTime() }

        /// Ends the time of the deadline, because the caller has its result; returns `false` if it has passed.
        @discardableResult
        func endTime() -> Bool {
            let (alarm, isInTime) = time.withLock { time in
                time.hasEnded = true
                return (time.alarm, !time.hasPassed)
            }
            alarm?.cancel()
            return isInTime
        }

        /// Starts the time of the deadline, after which `end` is called unless the time has been ended before; has no
        /// effect if it has been started.
        func startTime(_ clock: Stopwatch, end: @escaping @Sendable () -> Void) {
            guard let deadline else { return }
            time.withLock { time in
                guard time.alarm == nil else { return }
                let last = clock.now.advanced(by: deadline)
                // Belongs to no caller's task.
                time.alarm = Task.detached { [weak self] in
                    // Canceled: the caller has its result.
                    guard (try? await clock.sleep(until: last, tolerance: nil)) != nil else { return }
                    if self?.pass() == true { end() }
                }
            }
        }

        /// Notes that the time of the deadline has passed; returns `false` if it had ended before.
        private func pass() -> Bool {
            time.withLock { time in
                time.hasPassed = !time.hasEnded
                return time.hasPassed
            }
        }
    }

    /// The digest that the body must have.
    var expectedDigest: BodyDigest? { conditions?.digest }

    /// The decode variant that the caller waits for; `nil` for only the bytes.
    var variant: Variant? {
        let content: Variant.Content
        switch product {
        case .bytes: return nil
        case .data:
            guard expectedDigest != nil else { return nil }
            content = .body
        case .info(let readsAnimation, _): content = .header(readsAnimation: readsAnimation)
        case .image(let recipe, _), .previews(let recipe, _): content = .pixels(recipe)
        case .animation(let recipe, _), .animationFrames(let recipe, _): content = .animation(recipe)
        case .file(let identity, _, _): content = .file(identity)
        }
        return Variant(content: content, digest: expectedDigest?.algorithm)
    }

    /// The destination of the product.
    private var destination: any Destination {
        switch product {
        case .data(let answer): answer
        case .bytes(let feed): feed
        case .info(_, let answer): answer
        case .image(_, let answer): answer
        case .previews(_, let channel): channel
        case .animation(_, let answer): answer
        case .animationFrames(_, let channel): channel
        case .file(_, let answer, _): answer
        }
    }

    /// A Boolean value that indicates whether the caller has canceled and been answered.
    var isSettled: Bool { destination.isSettled }

    /// A Boolean value that indicates whether the caller has received bytes, and so can have begun to process them.
    var hasBegun: Bool {
        if case .bytes(let feed) = product { feed.hasBegun } else { false }
    }

    /// Returns the error if an image with this header does not meet the requirements.
    func refusal(of header: ImageHeader) -> ImageError? {
        conditions?.requirements?.violation(by: header).map { .unsuitable($0, url: key.url.string) }
    }

    /// The error of a caller whose deadline has passed.
    var timeout: ImageError {
        .transport(
            TransportError(url: key.url.string, reason: .timedOut(.total), detail: "the deadline of the request"))
    }

    /// Fails the caller; if it has asked about a stale file that is current, delivers that, or loads the image again.
    func fail(_ error: any Error) {
        guard case .file(let identity, let answer, .stale(let stale)) = product,
            case ImageError.notModified(let head) = error
        else { return destination.fail(error) }
        if let file = stale.confirmed(by: head) { return answer.resolve(.success(file)) }
        var again = self
        (again.key, again.product, again.isJoined) = (stale.fetch, .file(identity, answer, .none), false)
        stale.join(again)
    }

    /// Delivers the body.
    func deliver(_ data: ResponseBody) {
        guard case .data(let answer) = product else { return }
        let source = isJoined ? .joined : data.source
        answer.resolve(.success(ResponseBody(bytes: data.bytes, source: source, delivery: data.delivery)))
    }

    /// Delivers the properties of the file's header.
    func deliver(_ summary: FileSummary, from origin: ResponseOrigin) {
        if case .info(_, let answer) = product {
            answer.resolve(.success(ImageInfo(summary, origin: seen(origin))))
        }
    }

    /// Delivers the animation.
    func deliver(_ animation: AnimatedImage, from origin: ResponseOrigin) {
        switch product {
        case .animation(_, let answer):
            answer.resolve(.success(AnimationResponse(animation: animation, origin: seen(origin))))
        case .animationFrames(_, let channel):
            self.response?.finish(origin.head)
            channel.finish(.success(animation))
        case .data, .bytes, .info, .image, .previews, .file: break
        }
    }

    /// Delivers the final image.
    func deliver(_ image: DecodedImage, from origin: ResponseOrigin) {
        let response = ImageResponse(image: image, origin: seen(origin), scale: key.url.displayScale)
        switch product {
        case .image(_, let answer): answer.resolve(.success(response))
        case .previews(_, let channel):
            self.response?.finish(origin.head)
            channel.finish(.success(ImagePreview(final: response)))
        case .data, .bytes, .info, .animation, .animationFrames, .file: break
        }
    }

    /// Delivers the encoded image.
    func deliver(_ file: EncodedFile, from origin: ResponseOrigin) {
        deliver(ImageFile(file, origin: seen(origin)))
    }

    /// Delivers the encoded image as it was stored.
    func deliver(_ file: ImageFile) {
        if case .file(_, let answer, _) = product { answer.resolve(.success(file)) }
    }

    /// Returns the origin as this caller sees it.
    private func seen(_ origin: ResponseOrigin) -> ResponseOrigin {
        var origin = origin
        if isJoined { origin.source = .joined }
        return origin
    }
}

/// A place from which a caller takes its product.
private protocol Destination {
    /// A Boolean value that indicates whether the caller has canceled or been answered.
    var isSettled: Bool { get }

    func fail(_ error: any Error)
}

extension OneShot: Destination {
    fileprivate var isSettled: Bool {
        // For the same reason as LoadTask.value.
        @_specialize(where Value == ResponseBody) @_specialize(where Value == ImageResponse)
        get { isResolved }
    }
    fileprivate func fail(_ error: any Error) { resolve(.failure(error)) }
}

extension BodyStream: Destination {
    fileprivate var isSettled: Bool { isFinished }
    fileprivate func fail(_ error: any Error) { finish(.failure(error)) }
}

extension FrameChannel: Destination {
    fileprivate var isSettled: Bool { isFinished }
    fileprivate func fail(_ error: any Error) { finish(.failure(error)) }
}
