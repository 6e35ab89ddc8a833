extension ImageMetadata {
    /// Reads the segments before the first scan, and the gain map behind the image.
    mutating func readJPEG(_ file: Span<UInt8>) {
        var parts: [Int: Range<Int>] = [:]
        var partCount = 0
        var announcesGainMap = false
        for segment in JPEGMetadataSegments(file).segments {
            let content = file.extracting(segment.content)
            if segment.marker == 0xE1, exif == nil, content.has("Exif\0\0", at: 0) {
                exif = Self.tiff(content)
            } else if segment.marker == 0xE2, content.has("ICC_PROFILE\0", at: 0), let number = content.byte(at: 12),
                let count = content.byte(at: 13)
            {
                // Contradictory parts do not form a profile.
                guard parts[number] == nil, partCount == 0 || partCount == count else { return colorProfile = nil }
                parts[number] = segment.content.dropFirst(14)
                partCount = count
            } else if !announcesGainMap {
                announcesGainMap = ImageHeader.describesGainMap(segment.marker, content)
            }
        }
        if announcesGainMap { gainMap = GainMap.read(in: file) }
        guard partCount > 0 else { return }
        var profile: [UInt8] = []
        for number in 1...partCount {
            guard let range = parts[number] else { return }
            profile.append(file.extracting(range))
        }
        if profile.count <= Self.maximumBytes { colorProfile = profile }
    }
}
