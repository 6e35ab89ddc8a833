/// What a file says beside its pixels and can be kept when they are written anew: its colour profile and its Exif data.
///
/// Nothing of it is written unless it is handed to an encoder.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile, which says what the numbers of the pixels mean; nil stands for sRGB.
    public var colorProfile: [UInt8]?
    /// The Exif data, from the TIFF header on (`II` or `MM`): camera, place, time, often a small picture.
    public var exif: [UInt8]?

    /// The most bytes that are read of each.
    public static let maximumBytes = 16 << 20

    /// Nothing, unless told otherwise.
    public init(colorProfile: [UInt8]? = nil, exif: [UInt8]? = nil) {
        self.colorProfile = colorProfile
        self.exif = exif
    }

    /// What stands in `file`, a whole file or as much of it as there is; what is broken or too long counts as missing.
    ///
    /// GIF has none. Of a JPEG and a PNG the part before the pixels is enough for the profile, of a JPEG for all.
    public init(file: Span<UInt8>) {
        self.init()
        switch BuiltInFormat(signature: file) {
        case .jpeg: readJPEG(file)
        case .png: readPNG(file)
        case .webp: readWebP(file)
        case .gif, nil: break
        }
    }

    /// Whether there is nothing.
    public var isEmpty: Bool { colorProfile == nil && exif == nil }

    /// Makes the Exif data say that the pixels stand upright, as they do after decoding.
    ///
    /// Does nothing if they say nothing of it.
    public mutating func resetOrientation() {
        guard var exif, let place = ImageOrientation.place(inExif: exif.span) else { return }
        exif[place] = 1
        self.exif = exif
    }

    /// The Exif data without the identifier that leads them in JPEG, and by mistake in other formats.
    static func tiff(_ data: Span<UInt8>) -> [UInt8]? {
        let tiff = data.has("Exif\0\0", at: 0) ? data.extracting(6...) : data
        guard tiff.has("II", at: 0) || tiff.has("MM", at: 0), tiff.count <= maximumBytes else { return nil }
        return [UInt8](copying: tiff)
    }
}

extension ImageMetadata {
    /// What the colours of a profile are.
    enum ProfileColors: Equatable {
        case rgb, grey
    }

    /// What the profile is for, by its header (ICC.1:2022, 7.2.8); nil of one that pixels of ours cannot have.
    var profileColors: ProfileColors? {
        guard let profile = colorProfile?.span else { return nil }
        return profile.has("RGB ", at: 16) ? .rgb : profile.has("GRAY", at: 16) ? .grey : nil
    }

    /// The profile for pixels that are all grey or not, if it can be said of them.
    func usableProfile(isGrey: Bool) -> [UInt8]? {
        switch profileColors {
        case .rgb: colorProfile
        case .grey: isGrey ? colorProfile : nil
        case nil: nil
        }
    }

    /// Throws if a part is longer than `maximumProfile` and `maximumExif`, the most that `format` has room for.
    func check(
        _ format: ImageFormat, maximumProfile: Int = Self.maximumBytes, maximumExif: Int = Self.maximumBytes
    ) throws(CodecError) {
        let parts = [
            ("a colour profile", colorProfile?.count ?? 0, maximumProfile),
            ("Exif data", exif?.count ?? 0, maximumExif),
        ]
        for (name, count, limit) in parts where count > limit {
            throw .encodingFailed(format, "\(name) of \(count) bytes, where \(limit) are the most")
        }
    }
}
