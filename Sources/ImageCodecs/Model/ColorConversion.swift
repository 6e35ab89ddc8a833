/// What a decode does to make the colors of a file sRGB.
public enum ColorConversion: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the file names no colors, or sRGB, or what is as good as that.
    case unneeded = "none"
    /// Each pixel is converted, unless ``DecodeOptions/keepsProfile`` is set.
    case converted
    /// Nothing: what the file names is broken, over 4 MiB, for pixels of another kind, or not known here.
    ///
    /// The colors count as sRGB, as in browsers.
    case unsupported
}
