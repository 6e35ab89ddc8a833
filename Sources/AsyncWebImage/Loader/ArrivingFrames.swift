import ImageCodecs

/// A run of ``ImageLoader/animationFrames(for:)``: decodes each frame when it is requested and has been received.
actor ArrivingFrames {
    private let subscription: FrameSubscription<AnimatedImage>
    private let decoder: ImageDecoder
    private let url: String
    /// The animation as last received, and its decoder.
    private var image: AnimatedImage?
    private var codec: AnimationDecoder?
    private var nextIndex = 0

    init(_ subscription: FrameSubscription<AnimatedImage>, decoder: ImageDecoder, url: String) {
        self.subscription = subscription
        self.decoder = decoder
        self.url = url
    }

    /// Returns the next frame once it is complete; `nil` after the last.
    func next() async throws -> AnimationFrame? {
        try Task.checkCancellation()
        while nextIndex >= image?.frameCount ?? 0 {
            guard let newer = try await subscription.next() else { return nil }
            if let codec { codec.extend(to: newer) } else { codec = AnimationDecoder(newer, windowBytes: 0) }
            image = newer
        }
        guard let image, let codec else { return nil }
        let index = nextIndex
        do {
            let pixels = try await decoder.withMemory(image.estimatedBytes) { try codec.frame(at: index) }
            nextIndex += 1
            return AnimationFrame(
                pixels: pixels, index: index, repetition: 0, delay: image.delay(at: index),
                isPartial: codec.partialFrames.contains(index))
        } catch let error as CodecError {
            try Task.checkCancellation()
            throw ImageError.codec(error, url: url)
        }
    }
}
