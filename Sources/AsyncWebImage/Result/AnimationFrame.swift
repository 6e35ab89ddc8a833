/// A frame of an animation that is being played or downloaded.
public struct AnimationFrame: Sendable {
    /// The complete image, not only the changed part.
    public let pixels: PixelBuffer
    /// The index of the frame in the animation, starting at 0.
    public let index: Int
    /// The number of times the animation has been played completely before this frame.
    public let repetition: Int
    /// The display time of the frame.
    public let delay: Duration
    /// A Boolean value that indicates whether part of the frame is missing, which ``DecodeOptions/allowsPartial``
    /// permits.
    public let isPartial: Bool
}
