/// Options for encoding JPEG.
public struct JPEGOptions: Sendable, Hashable {
    /// The quality, from 1, the smallest file, to 100, the best; other values are clamped.
    public var quality: Int
    /// The chroma subsampling; `nil` selects ``ChromaSubsampling/half`` for a quality below 90, and otherwise
    /// ``ChromaSubsampling/full``.
    public var chroma: ChromaSubsampling?
    /// A Boolean value that indicates whether the file is progressive.
    ///
    /// Viewers can show a coarse image before a progressive file has arrived completely. Such files are slightly
    /// smaller but take longer to decode.
    public var isProgressive: Bool

    /// The resolution of the chroma channels of a JPEG relative to luma.
    public enum ChromaSubsampling: String, Sendable, Hashable, CaseIterable {
        /// 4:4:4: full resolution.
        case full = "4:4:4"
        /// 4:2:2: half the width.
        case halfWidth = "4:2:2"
        /// 4:2:0: half the width and height.
        case half = "4:2:0"
    }

    /// Creates options; by default, the quality is 85 and the file is not progressive.
    public init(quality: Int = 85, chroma: ChromaSubsampling? = nil, isProgressive: Bool = false) {
        self.quality = quality
        self.chroma = chroma
        self.isProgressive = isProgressive
    }
}

extension JPEGOptions {
    /// The quality clamped to libjpeg's range.
    var usableQuality: Int { min(max(quality, 1), 100) }

    /// The number of luma samples per chroma sample.
    var lightnessFactors: (horizontal: Int, vertical: Int) {
        switch chroma ?? (usableQuality >= 90 ? .full : .half) {
        case .full: (1, 1)
        case .halfWidth: (2, 1)
        case .half: (2, 2)
        }
    }
}
