#if Tracing
import ResponseCache
import Tracing
#endif

/// One caller who waits for something from a download.
struct Subscriber: Sendable {
    typealias ID = CallerID

    /// What the caller wants, and where the answer goes.
    enum Wish: Sendable {
        case data(OneShot<ImageData>)
        /// The body piece by piece.
        case bytes(BodyFeed)
        case info(readsAnimation: Bool, OneShot<ImageInfo>)
        case image(DecodeOptions, OneShot<ImageResponse>)
        case frames(DecodeOptions, FrameChannel<ImageFrame>)
        case animation(DecodeOptions, OneShot<AnimationResponse>)
        /// The animation as far as it has come, again and again.
        case animationFrames(DecodeOptions, FrameChannel<AnimatedImage>)
    }

    /// Unique, and growing in the order in which callers asked.
    let id: ID
    let key: FetchKey
    let wish: Wish
    var priority: DownloadPriority
    /// Whether its download may finish when the loader is shut down.
    let finishesOnShutdown: Bool
    /// Whether somebody else had asked for the download before.
    var isJoined = false
    #if Tracing
    /// What the caller was doing when it asked.
    var context: ServiceContext?
    #endif

    /// Which decode the caller waits for; nil for the bytes alone.
    var variant: Variant? {
        switch wish {
        case .data, .bytes: nil
        case .info(let readsAnimation, _): .header(readsAnimation: readsAnimation)
        case .image(let options, _), .frames(let options, _): .pixels(options)
        case .animation(let options, _), .animationFrames(let options, _): .animation(options)
        }
    }

    /// Whether the caller has been told its end already, having cancelled.
    var isSettled: Bool {
        switch wish {
        case .data(let answer): answer.isResolved
        case .bytes(let feed): feed.isFinished
        case .info(_, let answer): answer.isResolved
        case .image(_, let answer): answer.isResolved
        case .frames(_, let channel): channel.isFinished
        case .animation(_, let answer): answer.isResolved
        case .animationFrames(_, let channel): channel.isFinished
        }
    }

    /// Tells the caller that there is nothing for it.
    func fail(_ error: any Error) {
        switch wish {
        case .data(let answer): answer.resolve(.failure(error))
        case .bytes(let feed): feed.finish(.failure(error))
        case .info(_, let answer): answer.resolve(.failure(error))
        case .image(_, let answer): answer.resolve(.failure(error))
        case .frames(_, let channel): channel.finish(.failure(error))
        case .animation(_, let answer): answer.resolve(.failure(error))
        case .animationFrames(_, let channel): channel.finish(.failure(error))
        }
    }

    /// Hands what a file's header says over.
    func deliver(_ summary: FileSummary, from origin: ResponseOrigin) {
        if case .info(_, let answer) = wish {
            answer.resolve(.success(ImageInfo(summary, head: origin.head)))
        }
    }

    /// Hands the animation over.
    func deliver(_ animation: AnimatedImage, from origin: ResponseOrigin) {
        switch wish {
        case .animation(_, let answer):
            answer.resolve(.success(AnimationResponse(animation: animation, origin: seen(origin))))
        case .animationFrames(_, let channel): channel.finish(.success(animation))
        case .data, .bytes, .info, .image, .frames: break
        }
    }

    /// Hands the finished image over.
    func deliver(_ image: DecodedImage, from origin: ResponseOrigin) {
        let response = ImageResponse(image: image, origin: seen(origin), scale: key.url.displayScale)
        switch wish {
        case .image(_, let answer): answer.resolve(.success(response))
        case .frames(_, let channel): channel.finish(.success(ImageFrame(final: response)))
        case .data, .bytes, .info, .animation, .animationFrames: break
        }
    }

    /// Returns the origin as this caller sees it.
    private func seen(_ origin: ResponseOrigin) -> ResponseOrigin {
        var origin = origin
        if isJoined { origin.source = .joined }
        return origin
    }
}

/// What is made of a download's bytes: callers who want the same share the work.
enum Variant: Sendable, Hashable {
    case header(readsAnimation: Bool)
    case pixels(DecodeOptions)
    case animation(DecodeOptions)
}
