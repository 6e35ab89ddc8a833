/// How pixels are weighted when an image is made smaller or larger.
public struct Resampling: Sendable, Hashable {
    /// The weights.
    public var filter: Filter
    /// A Boolean value that indicates whether light is averaged instead of the numbers that stand for it.
    ///
    /// Keeps fine bright detail, such as stars, as bright as it is; takes a little longer. Colors count as sRGB.
    public var usesLinearLight: Bool

    /// Lanczos-3 on the numbers as stored, as most programs do, by default.
    public init(filter: Filter = .lanczos3, usesLinearLight: Bool = false) {
        self.filter = filter
        self.usesLinearLight = usesLinearLight
    }

    /// The weight of a pixel by its distance.
    ///
    /// All are stretched when an image is made smaller, so that every pixel of the original counts.
    public enum Filter: String, Sendable, Hashable, CaseIterable {
        /// A sinc in a window of three lobes: the sharpest, with faint halos along hard edges.
        case lanczos3
        /// The cubic of Mitchell and Netravali (B and C one third): hardly any halo, a little softer.
        case mitchell
        /// The cubic of Catmull and Rom (B zero, C one half): nearly as sharp as Lanczos with a third fewer weights.
        case catmullRom = "catmull-rom"
        /// Linear interpolation, and its stretched form: soft, no halo.
        case triangle
        /// The mean of the area that a pixel covers: the cheapest; enlarged pixels stay squares.
        case box
    }
}
