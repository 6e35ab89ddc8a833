/// Options for encoding PNG, which is always lossless.
public struct PNGOptions: Sendable, Hashable {
    /// The compression level, from 0, uncompressed, to 9, the slowest; other values are clamped.
    public var compressionLevel: Int
    /// A Boolean value that indicates whether grayscale images, and those of up to 256 colors, are stored as such if
    /// that takes fewer bits.
    ///
    /// Otherwise every pixel is stored as RGB, or RGBA if any is transparent. Animations are always stored that way.
    public var reducesColors: Bool

    /// Creates options; level 6 and the fewest bits by default.
    public init(compressionLevel: Int = 6, reducesColors: Bool = true) {
        self.compressionLevel = compressionLevel
        self.reducesColors = reducesColors
    }
}
