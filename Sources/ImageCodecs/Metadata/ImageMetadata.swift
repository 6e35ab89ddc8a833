/// The metadata of a file that can be preserved when its image is encoded again: its color profile, its
/// Exif data, and its gain map.
///
/// Metadata is only written if it is passed to an encoder.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile that defines the colors of the pixels, or `nil` for sRGB.
    public var colorProfile: [UInt8]?
    /// The Exif data, starting with the TIFF header (`II` or `MM`), which can contain the camera, location, time, and a
    /// thumbnail.
    public var exif: [UInt8]?
    /// The gain map of the image, a complete JPEG file, which JPEG alone can store; `nil` for none.
    ///
    /// It must fit the pixels: those of the original, scaled at most.
    public var gainMap: [UInt8]?

    /// The maximum size in bytes of a color profile, and of Exif data; larger ones are not read.
    public static let maximumBytes = 16 << 20

    /// Creates metadata; empty by default.
    public init(colorProfile: [UInt8]? = nil, exif: [UInt8]? = nil, gainMap: [UInt8]? = nil) {
        self.colorProfile = colorProfile
        self.exif = exif
        self.gainMap = gainMap
    }

    /// A Boolean value that indicates whether there is no metadata.
    public var isEmpty: Bool { colorProfile == nil && exif == nil && gainMap == nil }

    /// Sets the orientation in the Exif data to upright, as pixels are after decoding.
    ///
    /// Does nothing if the data declares no orientation.
    public mutating func resetOrientation() {
        guard var exif, let place = ImageOrientation.place(inExif: exif.span) else { return }
        exif[place] = 1
        self.exif = exif
    }

    /// Returns the Exif data without the identifier that precedes it in JPEG, and by mistake in other formats.
    static func tiff(_ data: Span<UInt8>) -> [UInt8]? {
        let tiff = data.has("Exif\0\0", at: 0) ? data.extracting(6...) : data
        guard tiff.has("II", at: 0) || tiff.has("MM", at: 0), tiff.count <= maximumBytes else { return nil }
        return [UInt8](copying: tiff)
    }
}
