extension ImageMetadata {
    /// Reads the segments before the first scan.
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
                // Contradictory parts do not form a profile.
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
}
