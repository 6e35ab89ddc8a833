import HTTPSemantics
import HTTPTransport
import ImageCodecs

// Decodes of downloads: started for the first caller of a variant, shared by all of its callers.
extension DownloadCoordinator {
    /// Starts a decode; returns `false` if the beginning of the body has been discarded.
    func startDecode(_ id: DownloadMachine.DecodeID, _ variant: Variant, of download: Download) -> Bool {
        let limitsReadAhead = if case .header = variant { true } else { false }
        guard let reader = download.log.makeReader(limitsReadAhead: limitsReadAhead) else { return false }
        let frames = FrameHub<ImageFrame>()
        let animations: FrameHub<AnimatedImage>? = if case .animation = variant { FrameHub() } else { nil }
        let session = DecodeSession(
            reader: reader, decoder: decoder, options: variant.options, policy: policy, frames: frames,
            animations: animations)
        // Belongs to all callers of the variant, so to none of their tasks. Only the session prefers the decoder's
        // threads: a task with that preference would wait for a free one to run the actor's own turns.
        let task = Task.detached { await self.decodeEnded(id, session.outcome(variant)) }
        decodes[id] = RunningDecode(
            variant: variant, task: task, reader: reader, frames: frames, animations: animations)
        return true
    }

    private func decodeEnded(_ id: DownloadMachine.DecodeID, _ outcome: DecodeOutcome) {
        decodes[id]?.outcome = outcome
        turn(.decodeEnded(id, isSuccess: outcome.isSuccess))
    }

    /// Passes the result of a decode to its callers, and complete images to the cache of decoded images.
    func deliver(_ id: DownloadMachine.DecodeID, to callers: [Subscriber], from download: Download.ID) {
        guard let decode = decodes.removeValue(forKey: id), let outcome = decode.outcome,
            let download = downloads[download]
        else {
            for caller in callers { caller.fail(CancellationError()) }
            return
        }
        let origin = download.log.origin
        for caller in callers {
            download.log.stopWatching(caller.id)
            switch (outcome, origin) {
            case (.info(let summary), let origin?): caller.deliver(summary, from: origin)
            case (.image(let image), let origin?): caller.deliver(image, from: origin)
            case (.animation(let animation), let origin?): caller.deliver(animation, from: origin)
            case (.failure(let error), _): caller.fail(ImageError.wrapping(error, url: download.key.url.string))
            // Bytes come after a head.
            case (_, nil): caller.fail(CancellationError())
            }
        }
        // A later request could result in a complete image instead of a partial one.
        if case .image(let image) = outcome, !image.isPartial, case .pixels(let options) = decode.variant,
            let key = download.key.cacheKeyForStoring(options), var origin,
            !CacheControl(origin.head.response.headerFields).noStore
        {
            origin.source = .imageCache
            cache.insert(ImageResponse(image: image, origin: origin, scale: download.key.url.displayScale), for: key)
        }
    }
}

/// An active decode and its observers.
struct RunningDecode {
    let variant: Variant
    let task: Task<Void, Never>
    let reader: BodyReader
    let frames: FrameHub<ImageFrame>
    /// The frames of an animation.
    let animations: FrameHub<AnimatedImage>?
    /// The outcome; `nil` until it ends.
    var outcome: DecodeOutcome?

    /// Adds `caller` to the receivers of frames, if it requested previews or animation frames.
    func add(_ caller: Subscriber) {
        switch caller.product {
        case .frames(_, let channel):
            frames.add(channel, id: caller.id)
            channel.onDemand { [reader] in reader.wake() }
        case .animationFrames(_, let channel):
            animations?.add(channel, id: caller.id)
            channel.onDemand { [reader] in reader.wake() }
        case .data, .bytes, .info, .image, .animation: break
        }
    }

    func remove(_ id: Subscriber.ID) {
        frames.remove(id)
        animations?.remove(id)
    }
}

/// The outcome of a decode.
enum DecodeOutcome: Sendable {
    case info(FileSummary)
    case image(DecodedImage)
    case animation(AnimatedImage)
    case failure(any Error)

    var isSuccess: Bool {
        if case .failure = self { false } else { true }
    }
}

extension DecodeSession {
    /// Runs the session to its end outside the coordinator, which processes only the end.
    @concurrent fileprivate func outcome(_ variant: Variant) async -> DecodeOutcome {
        do {
            return switch variant {
            case .header(let readsAnimation): .info(try await runHeader(readsAnimation: readsAnimation))
            case .pixels: .image(try await run())
            case .animation: .animation(try await runAnimation())
            }
        } catch {
            return .failure(error)
        }
    }
}

extension Variant {
    fileprivate var options: DecodeOptions {
        switch self {
        case .header: DecodeOptions()
        case .pixels(let options), .animation(let options): options
        }
    }
}

extension ImageError {
    /// Converts an error of a decode to the error for callers.
    fileprivate static func wrapping(_ error: any Error, url: String) -> any Error {
        if let failure = error as? DecodeFailure {
            return ImageError.codec(failure.cause, url: url, partial: failure.partial)
        }
        if let error = error as? CodecError { return ImageError.codec(error, url: url) }
        return error
    }
}
