import ImageCodecs

extension ImageMetadata {
    /// The color model of a profile.
    enum ProfileColors: Equatable {
        case rgb, gray
    }

    /// The color model according to the profile's header (ICC.1:2022, 7.2.8); `nil` if decoded pixels cannot have it.
    var profileColors: ProfileColors? {
        guard let profile = colorProfile?.span else { return nil }
        return profile.has("RGB ", at: 16) ? .rgb : profile.has("GRAY", at: 16) ? .gray : nil
    }

    /// Returns the profile if it is valid for pixels that are all gray, or not.
    func usableProfile(isGray: Bool) -> [UInt8]? {
        switch profileColors {
        case .rgb: colorProfile
        case .gray: isGray ? colorProfile : nil
        case nil: nil
        }
    }

    /// Throws an error if a part is longer than `maximumProfile` or `maximumExif`, the limits of `format` in bytes.
    func check(
        _ format: ImageFormat, maximumProfile: Int = Self.maximumBytes, maximumExif: Int = Self.maximumBytes
    ) throws(CodecError) {
        let parts = [
            ("a color profile", colorProfile?.count ?? 0, maximumProfile),
            ("Exif data", exif?.count ?? 0, maximumExif),
        ]
        for (name, count, limit) in parts where count > limit {
            throw .encodingFailed(format, "\(name) of \(count) bytes exceeds the limit of \(limit)")
        }
    }
}
