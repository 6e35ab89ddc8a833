import HTTPSemantics
import HTTPTransport
import ImageCodecs
import ResponseCache

// Decodes of downloads: started for the first caller of a variant, shared by all of its callers.
extension DownloadCoordinator {
    /// Starts a decode; returns `false` if the beginning of the body has been discarded.
    func startDecode(_ id: DownloadMachine.DecodeID, _ variant: Variant, of download: Download) -> Bool {
        let digest = variant.digest.map(download.log.digest)
        if case .body = variant.content { return startCollection(id, variant, of: download, digest) }
        let reader = download.log.makeReader(limitsReadAhead: variant.needsOnlyHeader, digest: digest)
        guard let reader else { return false }
        let frames = FrameHub<ImagePreview>()
        let animations: FrameHub<AnimatedImage>? = if case .animation = variant.content { FrameHub() } else { nil }
        let session = DecodeSession(
            reader: reader, decoder: environment.decoder, options: variant.recipe.options,
            transformations: variant.recipe.transformations,
            policy: variant.makesFile ? PreviewPolicy(selection: .none) : environment.previews,
            frames: frames,
            animations: animations)
        let headerChecks = session.headerChecks
        // Belongs to all callers of the variant, so to none of their tasks.
        let store = resultWriter(of: download, variant)
        #if Tracing
        let span = download.span?.startDecode()
        #endif
        let task = Task.detached {
            #if Tracing
            let result = await DecodeSpan.$current.withValue(span) { await session.result(variant) }
            span?.end(result.error)
            #else
            let result = await session.result(variant)
            #endif
            // First, so that a caller that has received its file finds it in the cache.
            if case .file(let file) = result.outcome { await store?(file) }
            await self.decodeEnded(id, result)
        }
        let file: FileKey? =
            if case .file(let identity) = variant.content {
                FileKey(fetch: download.key, identity: identity)
            } else {
                nil
            }
        setActive(file, true)
        decodes[id] = RunningDecode(
            variant: variant, task: task, reader: reader, frames: frames, animations: animations,
            headerChecks: headerChecks, file: file)
        return true
    }

    private func startCollection(
        _ id: DownloadMachine.DecodeID, _ variant: Variant, of download: Download, _ digest: SharedDigest?
    ) -> Bool {
        guard let digest, let body = BodyCollection(download.log, digest: digest, decoder: environment.decoder) else {
            return false
        }
        let task = Task.detached { await self.decodeEnded(id, body.result()) }
        decodes[id] = RunningDecode(variant: variant, task: task)
        return true
    }

    /// Fails a caller as soon as the header of the image shows that it does not meet the caller's requirements.
    ///
    /// The caller then leaves, as if it had canceled, which stops the download unless others need it.
    func checkHeader(of decode: DownloadMachine.DecodeID, for caller: Subscriber, _ log: BodyLog) {
        guard caller.conditions?.requirements != nil else { return }
        let check: HeaderChecks.Check = { [weak self, weak log] header in
            guard let self, let refusal = caller.refusal(of: header) else { return }
            // The stored file may be another one than expected, and costs no transfer.
            if caller.expectedDigest != nil, log?.source.isStored == true { return }
            caller.fail(refusal)
            self.post(.leave(caller.id))
        }
        decodes[decode]?.headerChecks.add(check, id: caller.id)
    }

    private func decodeEnded(_ id: DownloadMachine.DecodeID, _ result: DecodeResult) {
        decodes[id]?.result = result
        turn(.decodeEnded(id, isSuccess: result.revealsBody))
    }

    /// Passes the result of a decode to its callers, and complete images to the cache of decoded images.
    ///
    /// Returns the callers that have not been answered, because they expect another body.
    func deliver(
        _ id: DownloadMachine.DecodeID, to callers: [Subscriber], from download: Download.ID
    ) -> DownloadMachine.Event? {
        guard let decode = removeDecode(id), let result = decode.result,
            let download = downloads[download]
        else {
            for caller in callers { caller.fail(CancellationError()) }
            return nil
        }
        let origin = download.log.origin
        var mismatches: [DownloadMachine.Mismatch] = []
        let accepting = callers.filter { accepts($0, result, of: download, &mismatches) }
        // First, so that a caller that has received its image finds it in the cache.
        if !accepting.isEmpty, case .pixels(let recipe) = decode.variant.content, let origin {
            store(result, recipe, of: download, from: origin)
        }
        for caller in accepting {
            switch (result.outcome, origin) {
            case (.info(let summary), let origin?): caller.deliver(summary, from: origin)
            case (.image(let image), let origin?): caller.deliver(image, from: origin)
            case (.animation(let animation), let origin?): caller.deliver(animation, from: origin)
            case (.file(let file), let origin?): caller.deliver(file, from: origin)
            case (.data(let data), _): caller.deliver(data)
            case (.failure(let error), _): caller.fail(ImageError.wrapping(error, url: download.key.url.string))
            // Bytes come after a head.
            case (_, nil): caller.fail(CancellationError())
            }
        }
        return mismatches.isEmpty ? nil : .mismatched(mismatches, isStored: download.log.source.isStored)
    }

    /// Removes a decode that has ended, or has been canceled.
    func removeDecode(_ id: DownloadMachine.DecodeID) -> RunningDecode? {
        let decode = decodes.removeValue(forKey: id)
        setActive(decode?.file, false)
        return decode
    }

    /// Returns whether a caller accepts a result; otherwise, it has failed, or it is added to `mismatches`.
    private func accepts(
        _ caller: Subscriber, _ result: DecodeResult, of download: Download,
        _ mismatches: inout [DownloadMachine.Mismatch]
    ) -> Bool {
        download.log.stopWatching(caller.id)
        if let mismatch = result.mismatch(for: caller, from: download.log.origin) {
            if !caller.isSettled { mismatches.append(.init(caller: caller, error: mismatch)) }
            return false
        }
        if let refusal = result.header.flatMap({ caller.refusal(of: $0) }) {
            caller.fail(refusal)
            return false
        }
        return true
    }

    /// Returns a closure that stores the file of a variant in the response cache; `nil` if it is not stored.
    private func resultWriter(of download: Download, _ variant: Variant) -> (@Sendable (EncodedFile) async -> Void)? {
        // Of a body that a hook has changed, others that use the cache know nothing.
        guard case .file(let identity) = variant.content, variant.digest == nil, hooks == nil,
            let cache = environment.responseCache, let key = identity.key(of: download.key, configuration)
        else { return nil }
        // Otherwise, the head could be that of another attempt when the file is complete.
        guard !identity.recipe.options.stopsWhenComplete else { return nil }
        return { [log = download.log, id = download.id, count = configurationCount] file in
            guard !file.isPartial, let origin = log.origin,
                await self.permitsStoring(id, origin.source, configurationCount: count)
            else { return }
            await cache.store(file.bytes, properties: file.properties, from: origin.head, for: key)
        }
    }

    /// Returns whether a file made of a download may be stored: the request was the one of its key, and a stored response
    /// has not been replaced.
    private func permitsStoring(_ id: Download.ID, _ source: ResponseSource, configurationCount count: Int) -> Bool {
        count == configurationCount && !(downloads[id]?.isOutdated == true && source.isStored)
    }

    /// Adds a complete image to the cache of decoded images, unless its response forbids that or has been replaced.
    private func store(
        _ result: DecodeResult, _ recipe: PixelRecipe, of download: Download, from origin: ResponseOrigin
    ) {
        // A later request could result in a complete image instead of a partial one.
        guard case .image(let image) = result.outcome, !image.isPartial,
            !(download.isOutdated && origin.source.isStored),
            let key = download.key.cacheKeyForStoring(recipe, digest: result.digest),
            !CacheControl(origin.head.response.headerFields).noStore
        else { return }
        var origin = origin
        origin.source = .imageCache
        environment.images.cache.insert(
            ImageResponse(image: image, origin: origin, scale: download.key.url.displayScale), for: key)
    }
}

extension Variant {
    /// A Boolean value that indicates whether little more than the header of the file is needed.
    fileprivate var needsOnlyHeader: Bool {
        if case .header = content, digest == nil { true } else { false }
    }

    /// A Boolean value that indicates whether the result is an encoded file, of which there are no previews.
    fileprivate var makesFile: Bool {
        if case .file = content { true } else { false }
    }

    fileprivate var recipe: PixelRecipe {
        switch content {
        case .header, .body: PixelRecipe()
        case .pixels(let recipe), .animation(let recipe): recipe
        case .file(let identity):
            PixelRecipe(options: identity.decodeOptions, transformations: identity.recipe.transformations)
        }
    }
}

extension ImageError {
    /// Converts an error of a decode to the error for callers.
    static func wrapping(_ error: any Error, url: String) -> any Error {
        if let failure = error as? DecodeFailure {
            return ImageError.codec(failure.cause, url: url, partial: failure.partial)
        }
        if let error = error as? CodecError { return ImageError.codec(error, url: url) }
        return error
    }
}
