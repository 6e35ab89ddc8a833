import ImageCodecs

extension DecodeOptions {
    /// A text that describes everything by which images of one file differ, for images that are stored decoded; `nil`
    /// for options whose images are not stored: those without a target size, and with 16 bits per channel.
    ///
    /// Another version of the package can decode differently, so its version is included.
    var storedVariant: String? {
        guard target != .original, pixelFormat != .rgba16 else { return nil }
        var parts = [PackageVersion.current, target.text, pixelFormat.rawValue, resampling.filter.rawValue]
        let flags = [
            (resampling.usesLinearLight, "linear"), (allowsUpscaling, "upscaling"), (ignoresOrientation, "stored"),
            (stopsWhenComplete, "stops"), (allowsPartial, "partial"), (keepsProfile, "profile"),
        ]
        for (isSet, name) in flags where isSet { parts.append(name) }
        return parts.joined(separator: " ")
    }
}

extension DecodeOptions.Target {
    fileprivate var text: String {
        switch self {
        case .original: "original"
        case .maximumSide(let side): "side \(side)"
        case .shorterSide(let side): "shorter \(side)"
        case .fit(let size): "fit \(size)"
        case .fill(let size): "fill \(size)"
        case .maximumBytes(let count): "bytes \(count)"
        }
    }
}
