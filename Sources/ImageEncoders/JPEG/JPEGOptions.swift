/// How a JPEG is written.
public struct JPEGOptions: Sendable, Hashable {
    /// 1, the smallest, to 100, the best; values outside count as the nearer end.
    public var quality: Int
    /// How much of the colors' resolution is kept; nil halves it both ways below quality 90, and keeps it from there on.
    public var chroma: ChromaSubsampling?
    /// A Boolean value that indicates whether the whole image can be shown early, coarsely; such files are a little
    /// smaller, too, and take longer.
    public var isProgressive: Bool

    /// How finely the colors of a JPEG are stored, next to its lightness.
    public enum ChromaSubsampling: String, Sendable, Hashable, CaseIterable {
        /// 4:4:4: at full resolution.
        case full = "4:4:4"
        /// 4:2:2: at half the width.
        case halfWidth = "4:2:2"
        /// 4:2:0: at half the width and height.
        case half = "4:2:0"
    }

    /// Sequential at quality 85 by default.
    public init(quality: Int = 85, chroma: ChromaSubsampling? = nil, isProgressive: Bool = false) {
        self.quality = quality
        self.chroma = chroma
        self.isProgressive = isProgressive
    }
}

extension JPEGOptions {
    /// The quality as libjpeg takes it.
    var usableQuality: Int { min(max(quality, 1), 100) }

    /// How many samples of lightness there are for one of color.
    var lightnessFactors: (horizontal: Int, vertical: Int) {
        switch chroma ?? (usableQuality >= 90 ? .full : .half) {
        case .full: (1, 1)
        case .halfWidth: (2, 1)
        case .half: (2, 2)
        }
    }
}
