public import ImageCodecs

extension ImageLoader {
    /// Returns a stream of the frames of `animation`, each at its time.
    ///
    /// The animation is repeated according to its file, possibly forever: end the loop to stop. Each frame is decoded
    /// on the decoder's threads while the previous one is shown, and only on demand. A late consumer gets the next
    /// frame immediately, and no frame is skipped. Throws ``CodecError`` if a frame cannot be decoded, and
    /// `CancellationError`. For one consumer.
    public func play(
        _ animation: AnimatedImage, clock: some Clock<Duration> = ContinuousClock()
    ) -> AsyncThrowingStream<AnimationFrame, any Error> {
        let playback = AnimationPlayback(animation, decoder: decoder, clock: clock)
        return AsyncThrowingStream { [threads = decoder.threads] in
            try await withTaskExecutorPreference(threads) { try await playback.next() }
        }
    }
}
