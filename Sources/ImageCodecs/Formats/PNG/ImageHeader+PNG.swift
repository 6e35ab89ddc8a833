extension ImageHeader {
    /// Returns the header of a PNG, which is complete at its first `IDAT`.
    static func png(
        _ bytes: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        var header: ImageHeader?
        var colorChunks = PNGColorChunks()
        var offset = 8
        while let length = bytes.bigEndian32(at: offset), bytes.has(8, at: offset) {
            let type = offset + 4
            let content = offset + 8
            guard length <= 0x7FFF_FFFF else { throw .corrupt(.png, "a chunk of \(length) bytes") }
            guard bytes.extracting(type..<content).areLetters else {
                throw .corrupt(.png, "a chunk with an invalid name")
            }
            let isFirst = offset == 8
            if isFirst, bytes.has("CgBI", at: type) {
                throw .unsupportedFeature(.png, "a variant of PNG that only Apple's devices read")
            }
            guard bytes.has("IHDR", at: type) == isFirst else { throw .corrupt(.png, "IHDR is not the first chunk") }

            if bytes.has("IDAT", at: type), let header {
                colors = colorChunks.sources
                return header
            }
            guard !bytes.has("IEND", at: type) else { throw .corrupt(.png, "no image data") }
            guard bytes.has(length, at: content) else { return nil }
            let data = bytes.extracting(content..<content + length)
            if isFirst {
                header = try png(ihdr: data, limits: limits)
            } else if bytes.has("tRNS", at: type) {
                header?.hasAlpha = true
            } else if bytes.has("acTL", at: type), let frames = data.bigEndian32(at: 0), frames >= 1 {
                header?.frameCount = frames
            } else if bytes.has("iCCP", at: type) {
                header?.colorProfile = profileName(data)
                colorChunks.profile = colorChunks.profile ?? Array(copying: data)
            } else if bytes.has("eXIf", at: type) {
                header?.orientation = ImageOrientation(exif: data)
            } else {
                colorChunks.add(data, named: bytes.extracting(type..<content))
            }
            offset = content + length + 4
        }
        return nil
    }

    /// Returns the header of a PNG as far as its signature and first chunk contain it, which is all that a decoder of its
    /// pixels needs; `nil` if these 33 bytes are incomplete.
    static func png(firstChunkOf bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader? {
        guard bytes.has(33, at: 0) else { return nil }
        guard bytes.bigEndian32(at: 8) == 13, bytes.has("IHDR", at: 12) else {
            throw .corrupt(.png, "the first chunk is not an IHDR of 13 bytes")
        }
        return try png(ihdr: bytes.extracting(16..<29), limits: limits)
    }

    private static func png(ihdr: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        guard ihdr.count == 13, let width = ihdr.bigEndian32(at: 0), let height = ihdr.bigEndian32(at: 4) else {
            throw .corrupt(.png, "IHDR of \(ihdr.count) bytes")
        }
        let depths: [UInt8]
        let colorType = ihdr[9]
        switch colorType {
        case 0: depths = [1, 2, 4, 8, 16]
        case 3: depths = [1, 2, 4, 8]
        case 2, 4, 6: depths = [8, 16]
        default: throw .corrupt(.png, "color type \(colorType)")
        }
        let depth = ihdr[8]
        guard depths.contains(depth) else { throw .corrupt(.png, "\(depth) bits with color type \(colorType)") }
        guard ihdr[10] == 0, ihdr[11] == 0, ihdr[12] <= 1 else {
            throw .corrupt(.png, "an unknown compression, filter, or interlace method")
        }

        var header = ImageHeader(format: .png, size: PixelSize(width: width, height: height))
        try limits.check(header.size, .png)
        header.bitsPerChannel = Int(depth)
        header.colorChannels = colorType == 2 || colorType == 6 ? 3 : 1
        header.isGray = colorType == 0 || colorType == 4
        header.hasAlpha = colorType >= 4
        header.isProgressive = ihdr[12] == 1
        return header
    }

    /// Returns the name in an `iCCP` chunk: 1 to 79 Latin-1 characters and a zero byte, before the compressed
    /// profile.
    private static func profileName(_ data: Span<UInt8>) -> String {
        var scalars: [Unicode.Scalar] = []
        for index in 0..<min(80, data.count) {
            guard data[index] != 0 else { break }
            scalars.append(Unicode.Scalar(data[index]))
        }
        return ProfileDescription.printable(scalars)
    }
}
