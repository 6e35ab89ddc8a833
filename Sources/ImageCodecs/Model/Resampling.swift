/// The filter and the light model used when an image is scaled.
public struct Resampling: Sendable, Hashable {
    /// The filter.
    public var filter: Filter
    /// A Boolean value that indicates whether pixels are averaged in linear light instead of as encoded values.
    ///
    /// Linear light preserves the brightness of fine details, such as stars, but takes a little longer. Colors are
    /// assumed to be sRGB.
    public var usesLinearLight: Bool

    /// Creates a resampling method; by default Lanczos-3 on encoded values, as in most programs.
    public init(filter: Filter = .lanczos3, usesLinearLight: Bool = false) {
        self.filter = filter
        self.usesLinearLight = usesLinearLight
    }

    /// A function that determines the weight of a source pixel from its distance to the target pixel.
    ///
    /// Filters are widened when an image is reduced, so that every source pixel contributes.
    public enum Filter: String, Sendable, Hashable, CaseIterable {
        /// A sinc windowed to three lobes: the sharpest, with faint halos along hard edges.
        case lanczos3
        /// The cubic of Mitchell and Netravali (B and C one third): hardly any halos, a little softer.
        case mitchell
        /// The cubic of Catmull and Rom (B zero, C one half): nearly as sharp as Lanczos with a third fewer weights.
        case catmullRom = "catmull-rom"
        /// Linear interpolation, widened when an image is reduced: soft, no halos.
        case triangle
        /// The mean of the covered area: the cheapest; enlarged pixels stay squares.
        case box
    }
}
