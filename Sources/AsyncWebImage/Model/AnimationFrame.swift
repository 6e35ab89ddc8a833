/// A frame of an animation that is being played, or is arriving.
public struct AnimationFrame: Sendable {
    /// The whole picture, not only what has changed.
    public let pixels: PixelBuffer
    /// Which frame of the animation this is, from 0.
    public let index: Int
    /// How often the animation has been shown before, from 0.
    public let run: Int
    /// How long the frame is to be shown.
    public let delay: Duration
    /// A Boolean value that indicates whether something is missing in it, as ``DecodeOptions/allowsPartial`` lets it.
    public let isPartial: Bool
}
