import ImageCodecs

/// One run of ``ImageLoader/frames(of:clock:)``: decodes each frame ahead of its time, and waits for that time.
actor AnimationPlayback<PlaybackClock: Clock<Duration>> {
    private let image: AnimatedImage
    private let codec: AnimationDecoder
    private let decoder: ImageDecoder
    private let clock: PlaybackClock
    /// The next frame; nil after the last.
    private var position: PlaybackPosition? = PlaybackPosition()
    /// When the time of the last frame is over.
    private var due: PlaybackClock.Instant?

    init(_ image: AnimatedImage, decoder: ImageDecoder, clock: PlaybackClock) {
        self.image = image
        codec = AnimationDecoder(image)
        self.decoder = decoder
        self.clock = clock
    }

    /// The next frame, when its time has come; nil when the time of the last is over.
    func next() async throws -> AnimationFrame? {
        guard let position else {
            try await waitUntilDue()
            return nil
        }
        let pixels = try await decoder.withMemory(image.estimatedBytes) { try codec.frame(at: position.index) }
        try await waitUntilDue()
        let delay = image.delay(at: position.index)
        let now = clock.now
        // Small delays are caught up with. A consumer who was away longer goes on from here.
        let start = if let due, due.duration(to: now) < delay { due } else { now }
        due = start.advanced(by: delay)
        var next = position
        self.position = next.advance(frameCount: image.frameCount, loopCount: image.loopCount) ? next : nil
        return AnimationFrame(
            pixels: pixels, index: position.index, run: position.run, delay: delay,
            isPartial: codec.partialFrames.contains(position.index))
    }

    private func waitUntilDue() async throws {
        guard let due, clock.now < due else { return }
        try await clock.sleep(until: due, tolerance: nil)
    }
}
