import ImageCodecs
import ImageProcessing

/// A decode of one file: passes bytes from a reader through a codec, within memory that is granted for it.
struct DecodeSession<Input: DecodeInput> {
    let reader: Input
    let decoder: ImageDecoder
    var options: DecodeOptions
    var transformations: [ImageTransformation] = []
    let policy: PreviewPolicy
    let frames: FrameHub<ImagePreview>
    /// The channels that receive the frames of an animation while it arrives.
    var animations: FrameHub<AnimatedImage>?
    /// The checks to make when the header is known.
    var headerChecks = HeaderChecks()
    /// A Boolean value that indicates whether memory is returned if others wait for it while the body is incomplete; if
    /// not, it is returned only while a failed attempt has not been followed by another one.
    var returnsMemory = true
    /// The collector of metadata; `nil` if none are needed.
    var metadata: MetadataCollector?
    /// A Boolean value that indicates whether long work moves to the decoder's threads instead of staying on those of the
    /// caller.
    var movesLongWork = true
    /// The clock for the timing of previews.
    var clock: any Clock<Duration> = ContinuousClock()
}

extension DecodeSession: Sendable where Input: Sendable {}

// Decodes of downloads, on the decoder's threads.
extension DecodeSession where Input == BodyReader {
    /// Returns the final image, or a partial one if the options allow it.
    ///
    /// Throws `CodecError`, `DecodeFailure` if part of the image was decoded, the error that ended the download, or
    /// `CancellationError`.
    @concurrent func run() async throws -> DecodedImage {
        try await withTaskExecutorPreference(decoder.threads) { try await fromFirstByte { try await $0.decodeImage() } }
    }

    /// Returns the animation, whose frames are not decoded yet; for a still image, the decoded image.
    @concurrent func runAnimation() async throws -> AnimatedImage {
        try await withTaskExecutorPreference(decoder.threads) {
            try await fromFirstByte { try await $0.readAnimation() }
        }
    }

    /// Returns the header and the number of bytes read; with `readsAnimation`, reads possible animations completely.
    @concurrent func runHeader(readsAnimation: Bool) async throws -> FileSummary {
        try await withTaskExecutorPreference(decoder.threads) {
            try await fromFirstByte { try await $0.decodeHeader(readsAnimation: readsAnimation) }
        }
    }

    /// Reads the rest of the body and returns its digest; `nil` if none is computed.
    ///
    /// Throws the error that ended the download, `CancellationError`, or `BodyRestarted` if what was decoded before is
    /// void.
    @concurrent func bodyDigest() async throws -> BodyDigest? {
        try await withTaskExecutorPreference(decoder.threads) { try await reader.bodyDigest() }
    }
}

extension DecodeSession {
    /// Runs `body` again whenever the download starts over, which the number of attempts limits, and once in each attempt
    /// if its memory has been recalled.
    func fromFirstByte<Result>(_ body: (DecodeSession) async throws -> Result) async throws -> Result {
        var session = self
        while true {
            do {
                return try await body(session)
            } catch is BodyRestarted {
                session.returnsMemory = true
            } catch is MemoryRecalled {
                session.returnsMemory = false
                try await reader.body?.waitForBody()
            }
        }
    }

    private func decodeImage() async throws -> DecodedImage {
        let codec = decoder.codec(options)
        return try await decodeImage(codec, plan: readHeader(codec))
    }

    func decodeImage(_ codec: StreamingDecoder, plan: DecodePlan?) async throws -> DecodedImage {
        try await decodeImage(codec, plan: plan, extraBytes: 0) { $0 }
    }

    /// Decodes the image, and makes something of it that takes `extraBytes` bytes, within one grant of memory.
    func decodeImage<Result>(
        _ codec: StreamingDecoder, plan: DecodePlan?, extraBytes: Int, then make: (DecodedImage) throws -> Result
    ) async throws -> Result {
        // If the body ended before its header, the codec throws a better error.
        guard let plan else { return try make(transformed(codec.finish())) }
        let extraBytes = extraBytes.saturatingSum(try transformationBytes(plan)).saturatingSum(previewBytes(plan))
        let bytes = plan.estimatedBytes.saturatingSum(extraBytes)
        try await reader.prepare(for: bytes)
        let recall = reader.body.map { body in MemoryRecall { body.wake() } }
        return try await decoder.withMemory(bytes, recall: recall) {
            // The file counts as part of the decode.
            reader.body?.setKeepsBytes(false)
            let isLong = codec.takesLong || takesLong(plan)
            return try await onThread(forLongWork: isLong) {
                try make(await finishTransformed(codec, recall, yields: movesLongWork && isLong))
            }
        }
    }

    /// Returns whether the decode is long enough that shorter work should run in between.
    func takesLong(_ plan: DecodePlan) -> Bool {
        let output = (try? transformedSize(plan).area) ?? 0
        return max(plan.storedSize.area, output) > 4_000_000
    }

    /// Does work on a thread for long work, or on the current one.
    func onThread<Result>(forLongWork isLong: Bool, _ work: () async throws -> Result) async throws -> Result {
        guard movesLongWork, isLong else { return try await work() }
        return try await decoder.threads.doLongWork(work)
    }

    /// Returns the transformed image; the part of an image that accompanies an error is transformed as well.
    private func finishTransformed(
        _ codec: StreamingDecoder, _ recall: MemoryRecall?, yields: Bool
    ) async throws -> DecodedImage {
        do {
            return try transformed(await finish(codec, recall, yields: yields))
        } catch let failure as DecodeFailure {
            guard let partial = try? transformed(failure.partial) else { throw failure.cause }
            throw DecodeFailure(cause: failure.cause, partial: partial)
        }
    }

    private func finish(
        _ codec: StreamingDecoder, _ recall: MemoryRecall?, yields: Bool
    ) async throws -> DecodedImage {
        let start = ContinuousClock.now
        do {
            let image = try await finishUnmeasured(codec, recall, yields: yields)
            decoder.recordDecode(since: start, .success(image))
            return image
        } catch {
            decoder.recordDecode(since: start, Result<DecodedImage, any Error>.failure(error))
            throw error
        }
    }

    private func finishUnmeasured(
        _ codec: StreamingDecoder, _ recall: MemoryRecall?, yields: Bool
    ) async throws -> DecodedImage {
        do {
            try await readPixels(codec, recall, clock: clock, yields: yields)
            return try codec.finish()
        } catch let error as CodecError {
            guard let partial = codec.partialImage else { throw error }
            throw DecodeFailure(cause: error, partial: partial)
        } catch let error as ImageError {
            // The transfer was interrupted: the received part is a file that ends early.
            guard options.allowsPartial, let image = try? codec.finish() else { throw error }
            return image
        }
    }

    private func decodeHeader(readsAnimation: Bool) async throws -> FileSummary {
        let codec = decoder.codec(options)
        var byteCount = 0
        var beginning: [[UInt8]] = []
        while let pieces = try await reader.next(inBatches: false) {
            codec.expectedLength = reader.expectedLength
            for piece in pieces {
                byteCount += piece.count
                try codec.append(piece.span)
                if let header = codec.header, !readsAnimation || !header.mayBeAnimated {
                    return FileSummary(header: header, byteCount: byteCount)
                }
            }
            reader.body?.setKeepsBytes(true)
            guard readsAnimation else { continue }
            beginning += pieces
            if let header = codec.header {
                headerChecks.publish(header)
                return try await readAnimationInfo(beginning, codec)
            }
        }
        try await onThread(forLongWork: codec.takesLong) { try codec.lookForHeaderAtEnd() }
        // Without a header, the codec throws the reason.
        let header = try codec.header ?? codec.finish().header
        guard readsAnimation, header.mayBeAnimated else { return FileSummary(header: header, byteCount: byteCount) }
        return try await readAnimationInfo(beginning, codec)
    }

    /// Returns the plan known with the header; `nil` if the file ends before it, or it is behind more bytes than may be
    /// held.
    func readHeader(
        _ codec: StreamingDecoder, keeping keep: ([UInt8]) -> Void = { _ in }
    ) async throws -> DecodePlan? {
        let limit = reader.storage?.maximumHeldBytes ?? .max
        var count = 0
        while count < limit, let pieces = try await reader.next(inBatches: false) {
            codec.expectedLength = reader.expectedLength
            for piece in pieces {
                count += piece.count
                keep(piece)
                metadata?.append(piece)
                try codec.append(piece.span)
            }
            // Until the decode has memory: metadata can be long, and some formats need the whole file.
            reader.body?.setKeepsBytes(true)
            if let plan = codec.plan {
                if let header = codec.header { headerChecks.publish(header) }
                return plan
            }
        }
        if count < limit {
            try await onThread(forLongWork: codec.takesLong) { try codec.lookForHeaderAtEnd() }
        }
        return codec.plan
    }

    /// Decodes arriving data and renders previews; with `yields`, other work can run after every piece.
    ///
    /// Throws `MemoryRecalled` if that has been requested when there is little to read, and the body can be read again.
    private func readPixels<Time: Clock>(
        _ codec: StreamingDecoder, _ recall: MemoryRecall?, clock: Time, yields: Bool
    ) async throws where Time.Duration == Duration {
        let start = clock.now
        var schedule = PreviewSchedule(policy)
        // A delayed preview is shown at its time, even if no more bytes arrive.
        let alarm = Alarm(clock: clock) { [body = reader.body] in body?.wake() }
        let hasBegun = codec.plan != nil
        codec.expectedLength = reader.expectedLength
        schedule.decoded(for: try clock.measure { try codec.begin() })
        repeat {
            let state = PreviewSchedule.State(
                isWanted: frames.isWanted && !codec.hasReachedEnd && reader.body?.isAtEnd != true,
                version: codec.previewVersion, scan: codec.previewScan)
            let now = start.duration(to: clock.now)
            switch schedule.decision(state, at: now) {
            case .show:
                let cost = try clock.measure {
                    if let preview = try preview(codec) { frames.publish(ImagePreview(preview)) }
                }
                schedule.shown(state, at: now, cost: cost)
            case .wait(let time): alarm.set(start.advanced(by: time))
            case .skip: break
            }
            // If the decode stops early, the download stops as well, unless another caller needs the remainder.
            guard !codec.needsNoMoreBytes else { return }
            if recall?.isRequested == true, reader.body?.rewind(onlyBetweenAttempts: !returnsMemory) == true {
                throw MemoryRecalled()
            }
            guard let pieces = try await reader.next(inBatches: true) else { return }
            for piece in pieces {
                try Task.checkCancellation()
                metadata?.append(piece)
                schedule.decoded(
                    for: try clock.measure {
                        try codec.append(piece.span)
                        // As soon as the header is known, if the file is read again.
                        if !hasBegun { try codec.begin() }
                    })
                if yields, decoder.threads.hasShortWork { await Task.yield() }
            }
        } while true
    }
}
