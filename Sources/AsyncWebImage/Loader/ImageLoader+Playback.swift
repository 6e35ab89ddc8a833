public import ImageCodecs

extension ImageLoader {
    /// The frames of `animation`, each when its time has come.
    ///
    /// Played as often as the file says, which may be without end: leave the loop to stop. Each frame is decoded on the
    /// decoder's threads while the one before is shown; nothing is decoded that is not asked for. A consumer who comes
    /// late gets the next frame at once, and none is left out. Throws ``CodecError`` if a frame cannot be decoded, and
    /// `CancellationError`. For one consumer.
    public func frames(
        of animation: AnimatedImage, clock: some Clock<Duration> = ContinuousClock()
    ) -> AsyncThrowingStream<AnimationFrame, any Error> {
        let playback = AnimationPlayback(animation, decoder: decoder, clock: clock)
        return AsyncThrowingStream { [threads = decoder.threads] in
            try await withTaskExecutorPreference(threads) { try await playback.next() }
        }
    }
}
