public import ImageCodecs

// Decoding without downloading: on the decoder's threads and within its memory.
//
// All methods throw ``ImageError``, with the decoded part of a damaged image, and `CancellationError`.
extension ImageDecoder {
    /// Returns the image in `bytes`, a complete file, decoded, scaled, and upright according to `options`.
    ///
    /// For an animation, the result is its first frame. Decoding waits until the decoder's memory budget allows it.
    /// Throws ``ImageError``, or `CancellationError` if the task is canceled.
    public nonisolated func image(
        from bytes: [UInt8], options: DecodeOptions = DecodeOptions()
    ) async throws -> DecodedImage {
        try await FileDecode(bytes, self, options).run { try await $0.run() }
    }

    /// Returns the image whose file an asynchronous sequence delivers in pieces; it is decoded while they arrive.
    ///
    /// The next piece is requested when there is room for it. If the sequence throws an error, the reason of the
    /// ``ImageError`` is ``TransportError/Reason-swift.enum/sourceFailed``. Otherwise, this method is like
    /// ``image(from:options:)-([UInt8],_)``.
    public nonisolated func image<Pieces: AsyncSequence & Sendable>(
        from pieces: Pieces, options: DecodeOptions = DecodeOptions()
    ) async throws -> DecodedImage where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        try await FileDecode(pieces: pieces, self, options).run { try await $0.run() }
    }

    /// Returns the animation in `bytes`, a complete file; a still image becomes an animation of one frame.
    ///
    /// Throws ``ImageError``, or `CancellationError` if the task is canceled.
    public nonisolated func animation(
        from bytes: [UInt8], options: DecodeOptions = DecodeOptions()
    ) async throws -> AnimatedImage {
        try await FileDecode(bytes, self, options).run { try await $0.runAnimation() }
    }

    /// Returns the animation whose file an asynchronous sequence delivers in pieces.
    ///
    /// Throws ``ImageError``, or `CancellationError` if the task is canceled.
    public nonisolated func animation<Pieces: AsyncSequence & Sendable>(
        from pieces: Pieces, options: DecodeOptions = DecodeOptions()
    ) async throws -> AnimatedImage where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        try await FileDecode(pieces: pieces, self, options).run { try await $0.runAnimation() }
    }

    /// Returns the properties of the image in `bytes`, a file of which the end can be missing.
    ///
    /// With `readsAnimation`, the frames of an animation are counted. Throws ``ImageError``, or `CancellationError` if
    /// the task is canceled.
    public nonisolated func info(from bytes: [UInt8], readsAnimation: Bool = false) async throws -> ImageHeader {
        try await FileDecode(bytes, self, DecodeOptions()).run {
            try await $0.runHeader(readsAnimation: readsAnimation).header
        }
    }

    /// Returns the properties of the image whose file an asynchronous sequence delivers in pieces, of which no more are
    /// requested than the header needs.
    ///
    /// With `readsAnimation`, the frames of an animation are counted. Throws ``ImageError``, or `CancellationError` if
    /// the task is canceled.
    public nonisolated func info<Pieces: AsyncSequence & Sendable>(
        from pieces: Pieces, readsAnimation: Bool = false
    ) async throws -> ImageHeader where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        try await FileDecode(pieces: pieces, self, DecodeOptions(), limitsReadAhead: !readsAnimation).run {
            try await $0.runHeader(readsAnimation: readsAnimation).header
        }
    }

    /// Returns a stream of previews of an image whose file an asynchronous sequence delivers, followed by the final
    /// image.
    ///
    /// The sequence is read from now on. The stream is otherwise like that of ``ImageLoader/previews(for:)``.
    public nonisolated func previews<Pieces: AsyncSequence & Sendable>(
        from pieces: Pieces, options: DecodeOptions = DecodeOptions(), policy: PreviewPolicy = PreviewPolicy()
    ) -> AsyncThrowingStream<ImagePreview, any Error>
    where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        let (channel, frames) = (FrameChannel<ImagePreview>(), FrameHub<ImagePreview>())
        frames.add(channel, id: 0)
        let decode: FileDecode
        do {
            decode = try FileDecode(pieces: pieces, self, options, policy: policy, frames: frames)
        } catch {
            return AsyncThrowingStream { throw error }
        }
        channel.onDemand { decode.wake() }
        let task = PreviewDecode(
            Task {
                do {
                    channel.finish(.success(try await decode.finalFrame()))
                } catch {
                    channel.finish(.failure(error))
                }
            })
        return AsyncThrowingStream {
            try await withTaskCancellationHandler {
                try await channel.next()
            } onCancel: {
                task.cancel()
            }
        }
    }
}

/// The decode behind a stream, which ends with it.
private final class PreviewDecode: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
        self.task = task
    }

    deinit { task.cancel() }

    func cancel() { task.cancel() }
}
