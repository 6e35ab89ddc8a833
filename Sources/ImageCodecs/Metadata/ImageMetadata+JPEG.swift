extension ImageMetadata {
    /// The bytes of a profile that one segment holds, and how many segments there can be (ICC.1:2022, B.4).
    static let jpegPartLength = 65_519
    static let jpegPartCount = 255
    /// The bytes that follow the identifier in a segment of Exif data.
    static let jpegExifLength = 65_527

    /// Reads the segments in front of the first scan.
    mutating func readJPEG(_ file: Span<UInt8>) {
        var parts: [Int: Range<Int>] = [:]
        var partCount = 0
        var offset = 2
        while let marker = file.byte(at: offset + 1), file.byte(at: offset) == 0xFF {
            if marker == 0xFF {
                offset += 1
                continue
            }
            guard marker != 0xDA, marker != 0xD9, let length = file.bigEndian16(at: offset + 2), length >= 2,
                file.has(length, at: offset + 2)
            else { break }
            let range = offset + 4..<offset + 2 + length
            let content = file.extracting(range)
            if marker == 0xE1, exif == nil, content.has("Exif\0\0", at: 0) {
                exif = Self.tiff(content)
            } else if marker == 0xE2, content.has("ICC_PROFILE\0", at: 0), let number = content.byte(at: 12),
                let count = content.byte(at: 13)
            {
                // Parts that contradict each other belong to no profile.
                guard parts[number] == nil, partCount == 0 || partCount == count else { return colorProfile = nil }
                parts[number] = range.lowerBound + 14..<range.upperBound
                partCount = count
            }
            offset += 2 + length
        }
        guard partCount > 0 else { return }
        var profile: [UInt8] = []
        for number in 1...partCount {
            guard let range = parts[number] else { return }
            profile.append(file.extracting(range))
        }
        if profile.count <= Self.maximumBytes { colorProfile = profile }
    }

    /// The segments that hold what there is, each with its marker; `isGrey` says whether the file has one channel.
    func jpegSegments(isGrey: Bool) throws(CodecError) -> [(marker: UInt8, content: [UInt8])] {
        try check(.jpeg, maximumProfile: Self.jpegPartLength * Self.jpegPartCount, maximumExif: Self.jpegExifLength)
        var segments: [(marker: UInt8, content: [UInt8])] = []
        if let exif { segments.append((0xE1, Array("Exif\0\0".utf8) + exif)) }
        if let profile = usableProfile(isGrey: isGrey) {
            let starts = Array(stride(from: 0, to: profile.count, by: Self.jpegPartLength))
            for (index, start) in starts.enumerated() {
                let head = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(starts.count)]
                segments.append((0xE2, head + profile[start..<min(start + Self.jpegPartLength, profile.count)]))
            }
        }
        return segments
    }
}
