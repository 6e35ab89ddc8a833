/// The conversion of a file's colors to sRGB.
public enum ColorConversion: String, Sendable, Hashable, CaseIterable {
    /// No conversion: the file declares no color space, sRGB, or an equivalent.
    case unneeded = "none"
    /// Each pixel is converted, unless ``DecodeOptions/keepsProfile`` is set.
    case converted
    /// No conversion: the declared color space is invalid, unknown, or for another kind of pixels (such as CMYK), or
    /// its profile is larger than 4 MiB.
    ///
    /// The colors are treated as sRGB, as in browsers.
    case unsupported
}
