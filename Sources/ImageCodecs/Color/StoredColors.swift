/// Where the colors of a file's pixels are, and the way from there to sRGB.
struct StoredColors: Sendable {
    /// What has to be done.
    private(set) var conversion = ColorConversion.unneeded
    /// What counts of all that the file says; nil if it says nothing that can be used, or no more than that it is sRGB.
    private(set) var source: ColorSource?
    private var kind = PixelKind.rgb

    /// Untagged: sRGB.
    init() {}

    /// The first of `sources` that can be used for a file with this header.
    ///
    /// Costs some hundredths of a millisecond for the profiles of cameras and screens, one for those of printers.
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
            if let lights = profile.lights {
                conversion = lights.isSRGB ? .unneeded : .converted
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

    /// Returns whether the pixels have another meaning than their numbers say, and `keepsProfile` does not ask to leave it so.
    ///
    /// Inks are always converted: there is no telling what they are in three channels.
    private func isConverting(_ options: DecodeOptions) -> Bool {
        conversion == .converted && (kind == .inks || !options.keepsProfile)
    }

    /// The way to sRGB; nil if there is nothing to do.
    ///
    /// `pixelCount` is roughly how many pixels will go there: for few of them large tables do not pay. With `isDeep` they
    /// have 16 bits a channel, unless they are inks.
    func transform(_ options: DecodeOptions, pixelCount: Int, isDeep: Bool) -> ColorTransform? {
        guard let source, isConverting(options) else { return nil }
        return ColorTransform(source, isDeep: isDeep, tables: pixelCount > 1 << 16)
    }

    /// The profile of the pixels that a decode hands out, if it is not sRGB's.
    func profile(_ options: DecodeOptions) -> [UInt8]? {
        guard options.keepsProfile, !isConverting(options), let source else { return nil }
        if case .profile(let bytes) = source { return bytes }
        return ColorProfileHandle(source)?.bytes
    }

    /// The maximum number of bytes that a conversion of rows of `width` holds, the profile included.
    func workingBytes(_ options: DecodeOptions, width: Int) -> Int {
        guard let source else { return 0 }
        let profile = if case .profile(let bytes) = source { bytes.count } else { 4 << 10 }
        guard isConverting(options) else { return options.keepsProfile ? profile : 0 }
        return profile + ColorTransform.workingBytes(profileBytes: profile) + width * 8
    }
}
