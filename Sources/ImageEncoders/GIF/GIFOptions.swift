/// How a GIF is written.
public struct GIFOptions: Sendable, Hashable {
    /// The most colours of a frame, 2 to 256, one of them being transparency where there is any; values outside count
    /// as the nearer end.
    public var maximumColors: Int

    /// 256 colours unless told otherwise.
    public init(maximumColors: Int = 256) {
        self.maximumColors = maximumColors
    }
}
