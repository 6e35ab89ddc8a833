import ImageCodecs

extension ImageMetadata {
    /// What the colors of a profile are.
    enum ProfileColors: Equatable {
        case rgb, grey
    }

    /// What the profile is for, by its header (ICC.1:2022, 7.2.8); nil of one that pixels of ours cannot have.
    var profileColors: ProfileColors? {
        guard let profile = colorProfile?.span else { return nil }
        return profile.has("RGB ", at: 16) ? .rgb : profile.has("GRAY", at: 16) ? .grey : nil
    }

    /// The profile for pixels that are all gray or not, if it can be said of them.
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
