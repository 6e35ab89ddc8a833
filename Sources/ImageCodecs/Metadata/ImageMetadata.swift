/// What a file says beside its pixels and can be kept when they are written anew: its color profile and its Exif data.
///
/// Nothing of it is written unless it is handed to an encoder.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile, which says what the numbers of the pixels mean; nil stands for sRGB.
    public var colorProfile: [UInt8]?
    /// The Exif data, from the TIFF header on (`II` or `MM`): camera, place, time, often a small picture.
    public var exif: [UInt8]?

    /// The maximum number of bytes that are read of each.
    public static let maximumBytes = 16 << 20

    /// Nothing, by default.
    public init(colorProfile: [UInt8]? = nil, exif: [UInt8]? = nil) {
        self.colorProfile = colorProfile
        self.exif = exif
    }

    /// A Boolean value that indicates whether there is nothing.
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
