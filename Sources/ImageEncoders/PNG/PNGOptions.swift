/// Options for encoding PNG, which is always lossless.
public struct PNGOptions: Sendable, Hashable {
    /// The compression level, from 0, uncompressed, to 9, the slowest; other values are clamped.
    public var compressionLevel: Int
    /// A Boolean value that indicates whether grayscale images and images of up to 256 colors are stored as grayscale
    /// or with a palette if that takes fewer bits.
    ///
    /// Otherwise, the pixels are stored as RGB, or as RGBA if any is transparent. Animations are always stored as RGB
    /// or RGBA.
    public var reducesColors: Bool

    /// Creates options; by default, the compression level is 6 and colors are stored with the fewest bits.
    public init(compressionLevel: Int = 6, reducesColors: Bool = true) {
        self.compressionLevel = compressionLevel
        self.reducesColors = reducesColors
    }
}
