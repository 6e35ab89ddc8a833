public import ImageCodecs

extension ImageLoader {
    /// Returns a stream that delivers each frame of `animation` when it is time to show it.
    ///
    /// The animation is repeated according to its file, possibly forever: end the loop to stop. Each frame is decoded
    /// on the decoder's threads while the previous one is shown, and only on demand. If a consumer is late, it gets the
    /// next frame immediately; no frame is skipped. The stream supports a single consumer. It throws ``CodecError`` if
    /// a frame cannot be decoded. If the task is canceled, the stream throws `CancellationError`, or ends without an
    /// error if the consumer was not waiting for a frame.
    public func play(
        _ animation: AnimatedImage, clock: some Clock<Duration> = ContinuousClock()
    ) -> AsyncThrowingStream<AnimationFrame, any Error> {
        let playback = AnimationPlayback(animation, decoder: decoder, clock: clock)
        return AsyncThrowingStream { [threads = decoder.threads] in
            try await withTaskExecutorPreference(threads) { try await playback.next() }
        }
    }
}
