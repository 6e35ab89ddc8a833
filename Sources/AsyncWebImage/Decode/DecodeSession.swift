import ImageCodecs

/// One decode of one download: bytes from a reader through a codec into pixels, on the decoder's threads.
struct DecodeSession: Sendable {
    let reader: BodyReader
    let decoder: ImageDecoder
    let options: DecodeOptions
    let policy: ProgressivePolicy
    let frames: FrameHub

    /// The finished image.
    ///
    /// Throws `CodecError`, what ended the download, or `CancellationError`.
    @concurrent func run() async throws -> DecodedImage {
        try await withTaskExecutorPreference(decoder.threads) { try await decodeImage() }
    }

    /// The header, and how many bytes had come by then.
    @concurrent func runHeader() async throws -> ImageInfo {
        try await withTaskExecutorPreference(decoder.threads) { try await decodeHeader() }
    }

    private func decodeImage() async throws -> DecodedImage {
        let codec = StreamingDecoder(options: options, limits: decoder.configuration.limits)
        guard let plan = try await readHeader(codec) else {
            // The body ended before its header did, which the codec words better.
            return try codec.finish()
        }
        // Others who decode the same body may hold the memory, and need its next bytes to give it back.
        reader.park()
        return try await decoder.withMemory(plan.estimatedBytes) {
            try codec.begin()
            try await readPixels(codec)
            return try codec.finish()
        }
    }

    private func decodeHeader() async throws -> ImageInfo {
        let codec = StreamingDecoder(options: options, limits: decoder.configuration.limits)
        var byteCount = 0
        while let pieces = try await reader.next() {
            for piece in pieces {
                byteCount += piece.count
                try codec.append(piece.span)
                if let header = codec.header { return ImageInfo(header: header, byteCount: byteCount) }
            }
        }
        _ = try codec.finish()
        throw CodecError.unsupportedFormat(lookingLike: "an empty file")
    }

    private func readHeader(_ codec: StreamingDecoder) async throws -> DecodePlan? {
        while let pieces = try await reader.next() {
            for piece in pieces { try codec.append(piece.span) }
            if let plan = codec.plan { return plan }
        }
        return codec.plan
    }

    private func readPixels(_ codec: StreamingDecoder) async throws {
        var shownVersion = 0
        var lastShown: ContinuousClock.Instant?
        repeat {
            let now = ContinuousClock.now
            if policy.isDue(
                isWanted: frames.isWanted, version: codec.previewVersion, shownVersion: shownVersion,
                lastShown: lastShown, now: now)
            {
                shownVersion = codec.previewVersion
                lastShown = now
                if let preview = try codec.preview() { frames.publish(ImageFrame(preview)) }
            }
            guard let pieces = try await reader.next() else { return }
            for piece in pieces {
                try Task.checkCancellation()
                try codec.append(piece.span)
            }
        } while true
    }
}
