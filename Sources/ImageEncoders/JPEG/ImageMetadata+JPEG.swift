import ImageCodecs

extension ImageMetadata {
    /// The maximum number of bytes of a profile in one segment (ICC.1:2022, B.4).
    static let jpegPartLength = 65_519
    /// The maximum number of segments of a profile.
    static let jpegPartCount = 255
    /// The maximum number of bytes after the identifier in a segment of Exif data.
    static let jpegExifLength = 65_527

    /// Returns the segments that contain the metadata, each with its marker; `isGray` indicates a file with one
    /// channel.
    func jpegSegments(isGray: Bool) throws(CodecError) -> [(marker: UInt8, content: [UInt8])] {
        try check(.jpeg, maximumProfile: Self.jpegPartLength * Self.jpegPartCount, maximumExif: Self.jpegExifLength)
        var segments: [(marker: UInt8, content: [UInt8])] = []
        if let exif { segments.append((0xE1, Array("Exif\0\0".utf8) + exif)) }
        if let profile = usableProfile(isGray: isGray) {
            let starts = Array(stride(from: 0, to: profile.count, by: Self.jpegPartLength))
            for (index, start) in starts.enumerated() {
                let head = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(starts.count)]
                segments.append((0xE2, head + profile[start..<min(start + Self.jpegPartLength, profile.count)]))
            }
        }
        return segments
    }
}
