/// Options for encoding WebP.
public struct WebPOptions: Sendable, Hashable {
    /// The quality of lossy files, from 1, the smallest, to 100, the best; other values are clamped.
    public var quality: Int
    /// A Boolean value that indicates whether encoding is lossless, including the colors of transparent pixels.
    public var isLossless: Bool
    /// The quality of the alpha channel of lossy files, 0 to 100; 100 is lossless.
    public var alphaQuality: Int
    /// The effort, from 0, the fastest, to 6, the smallest files; other values are clamped.
    public var effort: Int

    /// Creates options; lossy with quality 85, lossless alpha, and an effort of 4 by default.
    public init(quality: Int = 85, isLossless: Bool = false, alphaQuality: Int = 100, effort: Int = 4) {
        self.quality = quality
        self.isLossless = isLossless
        self.alphaQuality = alphaQuality
        self.effort = effort
    }
}
