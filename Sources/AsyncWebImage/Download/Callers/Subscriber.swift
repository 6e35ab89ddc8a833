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
        /// The image, encoded; the file that was stored, if it is stale.
        indirect case file(FileIdentity, OneShot<ImageFile>, StaleFile?)
        /// The animation as far as it has been received, repeatedly.
        indirect case animationFrames(PixelRecipe, FrameChannel<AnimatedImage>)
    }

    /// A unique number, ascending in the order of requests.
    let id: ID
    var key: FetchKey
    let product: Product
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
        /// The alarm that ends the wait at the deadline; released with the caller.
        private let alarm = Locked<Task<Void, Never>?>(nil)

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

        /// Ends the time of the deadline, because the caller has its result.
        func endTime() { alarm.withLock { $0 }?.cancel() }

        /// Starts the time of the deadline, after which `end` is called; has no effect if it has been started.
        func startTime(_ clock: Stopwatch, end: @escaping @Sendable () -> Void) {
            guard let deadline else { return }
            alarm.withLock { alarm in
                guard alarm == nil else { return }
                let time = clock.now.advanced(by: deadline)
                // Belongs to no caller's task.
                alarm = Task.detached {
                    // Canceled: the caller has its result.
                    guard (try? await clock.sleep(until: time, tolerance: nil)) != nil else { return }
                    end()
                }
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

    /// Fails the caller, or delivers a stale file that the origin has confirmed.
    func fail(_ error: any Error) {
        if case .file(_, let answer, let stale?) = product, case ImageError.notModified(let head) = error {
            if let file = stale.confirmed(by: head) { answer.resolve(.success(file)) } else { stale.loadAgain() }
        } else {
            destination.fail(error)
        }
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
        guard case .file(_, let answer, _) = product else { return }
        answer.resolve(.success(ImageFile(file, origin: seen(origin))))
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
    fileprivate var isSettled: Bool { isResolved }
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
