import ImageCodecs

/// A run of ``ImageLoader/play(_:clock:)``: decodes each frame ahead of its time, and waits for that time.
actor AnimationPlayback<PlaybackClock: Clock<Duration>> {
    private let image: AnimatedImage
    private let codec: AnimationDecoder
    private let decoder: ImageDecoder
    private let clock: PlaybackClock
    /// The next frame; `nil` after the last.
    private var position: PlaybackPosition? = PlaybackPosition()
    /// The time when the last frame ends.
    private var due: PlaybackClock.Instant?

    init(_ image: AnimatedImage, decoder: ImageDecoder, clock: PlaybackClock) {
        self.image = image
        codec = AnimationDecoder(image)
        self.decoder = decoder
        self.clock = clock
    }

    /// Returns the next frame at its time; `nil` when the last frame has ended.
    func next() async throws -> AnimationFrame? {
        guard let position else {
            try await waitUntilDue()
            return nil
        }
        let pixels: PixelBuffer
        do {
            pixels = try await decoder.withMemory(image.estimatedBytes) { try codec.frame(at: position.index) }
        } catch let error as CodecError {
            try Task.checkCancellation()
            throw error
        }
        try await waitUntilDue()
        let delay = image.delay(at: position.index)
        let now = clock.now
        // Small delays are caught up with. After a longer absence of the consumer, playback continues from the
        // current time.
        let start = if let due, due.duration(to: now) < delay { due } else { now }
        due = start.advanced(by: delay)
        var next = position
        self.position = next.advance(frameCount: image.frameCount, repetitionCount: image.repetitionCount) ? next : nil
        return AnimationFrame(
            pixels: pixels, index: position.index, repetition: position.repetition, delay: delay,
            isPartial: codec.partialFrames.contains(position.index))
    }

    private func waitUntilDue() async throws {
        guard let due, clock.now < due else { return }
        try await clock.sleep(until: due, tolerance: nil)
    }
}
