import ImageCodecs

/// One decode of one download: bytes from a reader through a codec into pixels, on the decoder's threads.
struct DecodeSession: Sendable {
    let reader: BodyReader
    let decoder: ImageDecoder
    let options: DecodeOptions
    let policy: ProgressivePolicy
    let frames: FrameHub<ImageFrame>
    /// Where the frames of an animation are shown while it arrives.
    var animations: FrameHub<AnimatedImage>?
    /// What previews are timed by.
    var clock: any Clock<Duration> = ContinuousClock()

    /// The finished image, or a partial one if the options allow it.
    ///
    /// Throws `CodecError`, or `DecodeFailure` if there is something of the image, what ended the download, or
    /// `CancellationError`.
    @concurrent func run() async throws -> DecodedImage {
        try await withTaskExecutorPreference(decoder.threads) { try await fromFirstByte { try await decodeImage() } }
    }

    /// The animation, its frames not decoded yet; of a still image, the finished image.
    @concurrent func runAnimation() async throws -> AnimatedImage {
        try await withTaskExecutorPreference(decoder.threads) { try await fromFirstByte { try await readAnimation() } }
    }

    /// The header, and how many bytes had come by then; with `readsAnimation`, all of what may be an animation.
    @concurrent func runHeader(readsAnimation: Bool) async throws -> ImageInfo {
        try await withTaskExecutorPreference(decoder.threads) {
            try await fromFirstByte { try await decodeHeader(readsAnimation: readsAnimation) }
        }
    }

    /// Runs `body` again whenever the body it reads begins anew, which the number of attempts limits.
    private func fromFirstByte<Result>(_ body: () async throws -> Result) async throws -> Result {
        while true {
            do { return try await body() } catch is BodyRestarted { continue }
        }
    }

    private func decodeImage() async throws -> DecodedImage {
        let codec = decoder.codec(options)
        return try await decodeImage(codec, plan: readHeader(codec))
    }

    func decodeImage(_ codec: StreamingDecoder, plan: DecodePlan?) async throws -> DecodedImage {
        // If the body ended before its header did, the codec words it better.
        guard let plan else { return try codec.finish() }
        // Others who decode the same body may hold the memory, and need its next bytes to give it back.
        reader.park()
        return try await decoder.withMemory(plan.estimatedBytes) {
            guard Self.takesLong(plan) else { return try await finish(codec) }
            return try await withTaskExecutorPreference(decoder.threads.forLongWork()) {
                try await finish(codec, yields: true)
            }
        }
    }

    /// Returns whether so much has to be decoded that shorter work should come in between.
    private static func takesLong(_ plan: DecodePlan) -> Bool {
        plan.storedSize.area > 4_000_000
    }

    private func finish(_ codec: StreamingDecoder, yields: Bool = false) async throws -> DecodedImage {
        do {
            try await readPixels(codec, clock: clock, yields: yields)
            return try codec.finish()
        } catch let error as CodecError {
            guard let partial = codec.partialImage else { throw error }
            throw DecodeFailure(cause: error, partial: partial)
        } catch let error as ImageError {
            // The transfer broke off: what had come is a file that ends too early.
            guard options.allowsPartial, let image = try? codec.finish() else { throw error }
            return image
        }
    }

    private func decodeHeader(readsAnimation: Bool) async throws -> ImageInfo {
        let codec = decoder.codec(options)
        var byteCount = 0
        var beginning: [[UInt8]] = []
        while let pieces = try await reader.next() {
            for piece in pieces {
                byteCount += piece.count
                try codec.append(piece.span)
                if let header = codec.header, !readsAnimation || !header.mayBeAnimated {
                    return ImageInfo(header: header, byteCount: byteCount)
                }
            }
            guard readsAnimation else { continue }
            beginning += pieces
            if codec.header != nil { return try await readAnimationInfo(beginning, codec) }
        }
        try codec.lookForHeaderAtEnd()
        // Without one the codec says why.
        let header = try codec.header ?? codec.finish().header
        guard readsAnimation, header.mayBeAnimated else { return ImageInfo(header: header, byteCount: byteCount) }
        return try await readAnimationInfo(beginning, codec)
    }

    /// What is known with the header; nil if the body ends before it.
    func readHeader(
        _ codec: StreamingDecoder, keeping keep: ([UInt8]) -> Void = { _ in }
    ) async throws -> DecodePlan? {
        while let pieces = try await reader.next() {
            for piece in pieces {
                keep(piece)
                try codec.append(piece.span)
            }
            if let plan = codec.plan { return plan }
        }
        try codec.lookForHeaderAtEnd()
        return codec.plan
    }

    /// Decodes what comes, with previews on the way; with `yields`, others have their turn after every piece.
    private func readPixels<Time: Clock>(_ codec: StreamingDecoder, clock: Time, yields: Bool) async throws
    where Time.Duration == Duration {
        let start = clock.now
        var schedule = PreviewSchedule(policy)
        // A preview that has to wait for its time is shown then, even if no more bytes come.
        let alarm = Alarm(clock: clock) { [reader] in reader.poke() }
        schedule.decoded(for: try clock.measure { try codec.begin() })
        repeat {
            let state = PreviewSchedule.State(
                isWanted: frames.isWanted && !codec.hasReachedEnd && !reader.isAtEnd,
                version: codec.previewVersion, scan: codec.previewScan)
            let now = start.duration(to: clock.now)
            switch schedule.decision(state, at: now) {
            case .show:
                let cost = try clock.measure {
                    if let preview = try codec.preview(maximumSide: policy.maximumSide) {
                        frames.publish(ImageFrame(preview))
                    }
                }
                schedule.shown(state, at: now, cost: cost)
            case .wait(let time): alarm.set(start.advanced(by: time))
            case .skip: break
            }
            // With a decode that stops early the download stops, too, unless somebody else wants the rest.
            guard !codec.needsNoMoreBytes, let pieces = try await reader.next() else { return }
            for piece in pieces {
                try Task.checkCancellation()
                schedule.decoded(for: try clock.measure { try codec.append(piece.span) })
                if yields, decoder.threads.hasShortWork { await Task.yield() }
            }
        } while true
    }
}
