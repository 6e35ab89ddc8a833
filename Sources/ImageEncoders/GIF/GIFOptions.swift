/// Options for encoding GIF.
public struct GIFOptions: Sendable, Hashable {
    /// The maximum number of colors of a frame, 2 to 256, including transparency; other values are clamped.
    public var maximumColors: Int

    /// Creates options; 256 colors by default.
    public init(maximumColors: Int = 256) {
        self.maximumColors = maximumColors
    }
}
