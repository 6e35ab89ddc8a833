/// The color space of a file's pixels and the conversion to sRGB.
struct StoredColors: Sendable {
    /// The required conversion.
    private(set) var conversion = ColorConversion.unneeded
    /// The declaration in effect; `nil` if the file declares nothing usable, or only sRGB.
    private(set) var source: ColorSource?
    private var kind = PixelKind.rgb

    /// Creates the colors of an untagged file: sRGB.
    init() {}

    /// Creates the colors from the first of `sources` that can be used for a file with this header.
    ///
    /// Takes some hundredths of a millisecond for profiles of cameras and displays, and a millisecond for those of
    /// printers.
    init(_ sources: [ColorSource], of header: ImageHeader) {
        for source in sources {
            if source == .sRGB {
                conversion = .unneeded
                return
            }
            guard let profile = ColorProfileHandle(source), profile.kind.suits(header) else {
                conversion = .unsupported
                continue
            }
            if let shaper = profile.matrixShaper {
                conversion = shaper.isSRGB ? .unneeded : .converted
            } else if profile.prepare(tables: false) {
                conversion = .converted
            } else {
                conversion = .unsupported
                continue
            }
            kind = profile.kind
            self.source = source
            return
        }
    }

    /// Returns whether the pixels are not sRGB and must be converted, which `keepsProfile` prevents.
    ///
    /// CMYK is always converted, because it has no meaning in three channels.
    private func isConverting(_ options: DecodeOptions) -> Bool {
        conversion == .converted && (kind == .cmyk || !options.keepsProfile)
    }

    /// Returns whether rows have 16 bits per channel until they are converted: the conversion amplifies the error of 8
    /// bits, especially in dark and saturated colors.
    func usesDeepRows(_ options: DecodeOptions, of header: ImageHeader) -> Bool {
        options.pixelFormat == .rgba16 || header.bitsPerChannel > 8 && kind != .cmyk && isConverting(options)
    }

    /// Returns the transform to sRGB, or `nil` if none is needed.
    ///
    /// `pixelCount` is the approximate number of pixels to convert: for a small number, large tables do not pay off.
    /// With `is16Bit`, pixels have 16 bits per channel, unless they are CMYK.
    func transform(_ options: DecodeOptions, pixelCount: Int, is16Bit: Bool) -> ColorTransform? {
        guard let source, isConverting(options) else { return nil }
        return ColorTransform(
            source, is16Bit: is16Bit, isRounded: options.pixelFormat != .rgba16, tables: pixelCount > 1 << 16)
    }

    /// Returns the profile of the decoded pixels, or `nil` if they are sRGB.
    func profile(_ options: DecodeOptions) -> [UInt8]? {
        guard options.keepsProfile, !isConverting(options), let source else { return nil }
        if case .profile(let bytes) = source { return bytes }
        return ColorProfileHandle(source)?.bytes
    }

    /// Returns the maximum memory that a conversion of rows of `width` pixels holds, including the profile, in bytes.
    func workingBytes(_ options: DecodeOptions, width: Int) -> Int {
        guard let source else { return 0 }
        let profile =
            switch source {
            case .profile(let bytes): bytes.count
            case .primaries(let space): space.profileBytes
            case .sRGB, .unusable: 0
            }
        guard isConverting(options) else { return options.keepsProfile ? profile : 0 }
        return profile + ColorTransform.workingBytes(profileBytes: profile) + width * 8
    }
}
