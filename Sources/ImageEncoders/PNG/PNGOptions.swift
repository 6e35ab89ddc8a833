/// How a PNG is written; its pixels come back exactly in any case.
public struct PNGOptions: Sendable, Hashable {
    /// 0, not compressed, to 9, which takes longest; values outside count as the nearer end.
    public var compressionLevel: Int
    /// A Boolean value that indicates whether gray images, and those of up to 256 colors, are stored as such where
    /// that takes fewer bits.
    ///
    /// Otherwise every pixel has its red, green and blue, and alpha if any is transparent. Animations are always
    /// stored like that.
    public var reducesColors: Bool

    /// Level 6 and as few bits as will do, by default.
    public init(compressionLevel: Int = 6, reducesColors: Bool = true) {
        self.compressionLevel = compressionLevel
        self.reducesColors = reducesColors
    }
}
