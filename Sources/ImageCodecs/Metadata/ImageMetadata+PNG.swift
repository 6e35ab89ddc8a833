extension ImageMetadata {
    /// Reads the chunks `iCCP` and `eXIf`, wherever they stand.
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

    /// A name of up to 79 characters, a zero, a method, which must be zero, and the compressed profile.
    private static func profile(inChunk data: Span<UInt8>) -> [UInt8]? {
        guard let end = (0..<min(80, data.count)).first(where: { data[$0] == 0 }), data.byte(at: end + 1) == 0 else {
            return nil
        }
        return Zlib.inflate(data.extracting((end + 2)...), limit: maximumBytes)
    }

    /// The chunks that hold what there is, to stand behind `IHDR`; `isGrey` says whether the file has no colours.
    func pngChunks(isGrey: Bool) throws(CodecError) -> [UInt8] {
        try check(.png)
        var chunks: [UInt8] = []
        // In a grey file, only a grey profile counts, and in others only one of colours.
        if let profile = usableProfile(isGrey: isGrey), (profileColors == .grey) == isGrey {
            guard let compressed = Zlib.deflate(profile.span) else { throw .encodingFailed(.png, "out of memory") }
            chunks.append(pngChunk: "iCCP", Array("ICC profile".utf8) + [0, 0], compressed.span)
        }
        if let exif { chunks.append(pngChunk: "eXIf", [], exif.span) }
        return chunks
    }
}
