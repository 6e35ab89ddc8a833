/// How a GIF is written.
public struct GIFOptions: Sendable, Hashable {
    /// The most colors of a frame, 2 to 256, one of them being transparency where there is any; values outside count
    /// as the nearer end.
    public var maximumColors: Int

    /// 256 colors by default.
    public init(maximumColors: Int = 256) {
        self.maximumColors = maximumColors
    }
}
