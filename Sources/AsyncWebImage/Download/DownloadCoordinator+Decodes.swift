import ImageCodecs

// Decodes of what is downloaded: started with the first caller of a variant, shared by all of its callers.
extension DownloadCoordinator {
    /// The decode a caller wants, under way from now on; nil if the beginning of the body is gone.
    func decode(_ subscriber: Subscriber, from download: Download) -> Download.Decode? {
        guard let variant = subscriber.variant else { return nil }
        if let decode = download.decodes[variant] { return decode }
        let isFrugal = if case .header = variant { true } else { false }
        guard let reader = download.log.makeReader(isFrugal: isFrugal) else { return nil }
        let frames = FrameHub<ImageFrame>()
        let animations: FrameHub<AnimatedImage>? = if case .animation = variant { FrameHub() } else { nil }
        let id = download.id
        let session = DecodeSession(
            reader: reader, decoder: decoder, options: variant.options, policy: policy, frames: frames,
            animations: animations)
        // Belongs to all callers of the variant, so to none of their tasks. Only the session prefers the decoder's
        // threads: with a task that does the actor's own turns would wait for one to be free.
        decodeCount += 1
        let task = Task.detached { await self.run(session, variant, of: id) }
        let decode = Download.Decode(task: task, frames: frames, animations: animations, reader: reader)
        download.decodes[variant] = decode
        return decode
    }

    /// Not on the actor, which has a turn for the end of it alone.
    private nonisolated func run(_ session: DecodeSession, _ variant: Variant, of id: Download.ID) async {
        let reader = session.reader
        switch variant {
        case .header(let readsAnimation):
            let info = await outcome { try await session.runHeader(readsAnimation: readsAnimation) }
            await finish(id, variant, reader, info: info)
        case .pixels:
            let image = await outcome { try await session.run() }
            await finish(id, variant, reader, image: image)
        case .animation:
            let animation = await outcome { try await session.runAnimation() }
            await finish(id, variant, reader, animation: animation)
        }
    }

    private func finish(
        _ id: Download.ID, _ variant: Variant, _ reader: BodyReader, info: Result<ImageInfo, any Error>
    ) {
        for (subscriber, download) in takeWaiting(id, variant, reader) {
            guard case .info(_, let answer) = subscriber.wish else { continue }
            answer.resolve(info.mapError { ImageError.wrapping($0, url: download.key.url.string) })
        }
        noteEnd(ofDecodeOf: id)
    }

    private func finish(
        _ id: Download.ID, _ variant: Variant, _ reader: BodyReader, image: Result<DecodedImage, any Error>
    ) {
        let waiting = takeWaiting(id, variant, reader)
        for (subscriber, download) in waiting {
            switch image {
            case .success(let image):
                subscriber.deliver(image, byteCount: download.log.received, from: download.log.source)
            case .failure(let error):
                subscriber.fail(ImageError.wrapping(error, url: download.key.url.string))
            }
        }
        // The next caller may be luckier than with a partial image.
        if case .success(let image) = image, !image.isPartial,
            case .pixels(let options) = variant, let download = downloads[id],
            let variant = download.key.memorable(options)
        {
            let response = ImageResponse(
                image: image, source: .memory, byteCount: download.log.received,
                scale: download.key.url.displayScale)
            cache.insert(response, for: variant)
        }
        noteEnd(ofDecodeOf: id)
    }

    private func finish(
        _ id: Download.ID, _ variant: Variant, _ reader: BodyReader, animation: Result<AnimatedImage, any Error>
    ) {
        for (subscriber, download) in takeWaiting(id, variant, reader) {
            switch animation {
            case .success(let animation):
                subscriber.deliver(animation, byteCount: download.log.received, from: download.log.source)
            case .failure(let error):
                subscriber.fail(ImageError.wrapping(error, url: download.key.url.string))
            }
        }
        noteEnd(ofDecodeOf: id)
    }

    /// Takes out those who wait for a decode that has ended.
    ///
    /// They are none if it was cancelled: another decode of the same variant, with its own reader, may have followed.
    private func takeWaiting(
        _ id: Download.ID, _ variant: Variant, _ reader: BodyReader
    ) -> [(Subscriber, Download)] {
        guard let download = downloads[id], download.decodes[variant]?.reader === reader else { return [] }
        download.decodes[variant] = nil
        let waiting = download.removeSubscribers(of: variant)
        for subscriber in waiting {
            locations[subscriber.id] = nil
            download.log.stopWatching(subscriber.id)
        }
        return waiting.map { ($0, download) }
    }

    private func noteEnd(ofDecodeOf id: Download.ID) {
        decodeCount -= 1
        if let download = downloads[id], download.subscribers.isEmpty {
            abandon(download)
            // Others may have waited for the memory of this one.
            startNext()
        }
        finishShutdownIfIdle()
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
    /// What a decode threw, as callers are to see it.
    fileprivate static func wrapping(_ error: any Error, url: String) -> any Error {
        if let failure = error as? DecodeFailure {
            return ImageError.codec(failure.cause, url: url, partial: failure.partial)
        }
        if let error = error as? CodecError { return ImageError.codec(error, url: url) }
        return error
    }
}

/// What `work` returns, or throws.
private func outcome<Value: Sendable>(_ work: () async throws -> Value) async -> Result<Value, any Error> {
    do { return .success(try await work()) } catch { return .failure(error) }
}
