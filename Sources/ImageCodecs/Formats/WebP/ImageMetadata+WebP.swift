extension ImageMetadata {
    /// Reads the chunks `ICCP` and `EXIF` at any position.
    mutating func readWebP(_ file: Span<UInt8>) {
        var offset = 12
        while let length = file.littleEndian32(at: offset + 4), file.has(length, at: offset + 8) {
            let data = file.extracting(offset + 8..<offset + 8 + length)
            if file.has("EXIF", at: offset) {
                exif = exif ?? Self.tiff(data)
            } else if file.has("ICCP", at: offset), colorProfile == nil, length <= Self.maximumBytes {
                colorProfile = [UInt8](copying: data)
            }
            offset += 8 + length + length & 1
        }
    }
}
