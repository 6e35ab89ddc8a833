/// How a WebP is written.
public struct WebPOptions: Sendable, Hashable {
    /// Of lossy files, 1, the smallest, to 100, the best; values outside count as the nearer end.
    public var quality: Int
    /// A Boolean value that indicates whether all pixels come back exactly, also the colors of transparent ones.
    public var isLossless: Bool
    /// The quality of the alpha channel of lossy files, 0 to 100; at 100 it comes back exactly.
    public var alphaQuality: Int
    /// 0, the fastest, to 6, the smallest files; values outside count as the nearer end.
    public var effort: Int

    /// Lossy at quality 85 with exact alpha and an effort of 4 by default.
    public init(quality: Int = 85, isLossless: Bool = false, alphaQuality: Int = 100, effort: Int = 4) {
        self.quality = quality
        self.isLossless = isLossless
        self.alphaQuality = alphaQuality
        self.effort = effort
    }
}
