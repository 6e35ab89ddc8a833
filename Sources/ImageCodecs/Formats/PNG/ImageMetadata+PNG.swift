extension ImageMetadata {
    /// Reads the chunks `iCCP` and `eXIf` at any position.
    mutating func readPNG(_ file: Span<UInt8>) {
        var offset = 8
        while let length = file.bigEndian32(at: offset), file.has(length, at: offset + 8) {
            let data = file.extracting(offset + 8..<offset + 8 + length)
            if file.has("eXIf", at: offset + 4) {
                exif = exif ?? Self.tiff(data)
            } else if file.has("iCCP", at: offset + 4), colorProfile == nil {
                colorProfile = Self.profile(inChunk: data)
            }
            offset += 12 + length
        }
    }

    /// Parses a name of up to 79 characters, a zero byte, a method, which must be zero, and the compressed profile.
    private static func profile(inChunk data: Span<UInt8>) -> [UInt8]? {
        guard let end = (0..<min(80, data.count)).first(where: { data[$0] == 0 }), data.byte(at: end + 1) == 0 else {
            return nil
        }
        return Zlib.inflate(data.extracting((end + 2)...), limit: maximumBytes)
    }
}
