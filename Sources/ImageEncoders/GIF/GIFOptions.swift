/// Options for encoding GIF.
public struct GIFOptions: Sendable, Hashable {
    /// The maximum number of colors of a frame, from 2 to 256; other values are clamped.
    ///
    /// Transparency counts as a color.
    public var maximumColors: Int

    /// Creates options; 256 colors by default.
    public init(maximumColors: Int = 256) {
        self.maximumColors = maximumColors
    }
}
