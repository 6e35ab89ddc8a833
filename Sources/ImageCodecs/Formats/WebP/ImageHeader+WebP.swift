extension ImageHeader {
    /// Returns the header of a WebP, which is complete where its first image begins.
    static func webp(
        _ bytes: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        guard let riffSize = bytes.littleEndian32(at: 4), bytes.has(8, at: 12),
            let length = bytes.littleEndian32(at: 16)
        else { return nil }
        guard riffSize >= 12 else { throw .corrupt(.webp, "a RIFF size of \(riffSize)") }
        // No file can have more bytes than this, whatever it declares.
        func held(_ length: Int) -> Int { max(0, min(length + 8, riffSize, limits.maximumBytes)) }
        if bytes.has("VP8 ", at: 12) || bytes.has("VP8L", at: 12) {
            var header = try webp(imageChunkAt: 12, of: bytes, limits: limits)
            header?.memoryUsage = held(length)
            if bytes.has("VP8L", at: 12) { header?.tableBytes = LosslessTables.limit(compressedBytes: held(length)) }
            return header
        }
        guard bytes.has("VP8X", at: 12) else { throw .corrupt(.webp, "it begins with no known chunk") }
        guard length >= 10 else { throw .corrupt(.webp, "a VP8X chunk of \(length) bytes") }
        guard let flags = bytes.byte(at: 20), let width = bytes.littleEndian24(at: 24),
            let height = bytes.littleEndian24(at: 27)
        else { return nil }

        var header = ImageHeader(format: .webp, size: PixelSize(width: width + 1, height: height + 1))
        try limits.check(header.size, .webp)
        header.hasAlpha = flags & 0x10 != 0
        header.frameCount = flags & 0x02 != 0 ? nil : 1
        // Later frames can be lossless and larger even if the first one is not.
        if header.mayBeAnimated { header.tableBytes = LosslessTables.limit(compressedBytes: held(riffSize)) }
        header.hasTrailingOrientation = flags & 0x08 != 0

        var imageSize = header.size
        var offset = 20 + padded(length)
        while let length = bytes.littleEndian32(at: offset + 4) {
            if bytes.has("ANMF", at: offset), header.mayBeAnimated {
                guard let width = bytes.littleEndian24(at: offset + 14),
                    let height = bytes.littleEndian24(at: offset + 17)
                else { return nil }
                imageSize = PixelSize(width: width + 1, height: height + 1)
                header.hasAlpha = header.hasAlpha || imageSize != header.size
                header.memoryUsage = held(length)
                offset += 8 + 16  // its image follows
                continue
            }
            if bytes.has("ALPH", at: offset) {
                header.hasAlpha = true
                // An unknown number of colors follows.
                if header.memoryUsage == 0 { header.memoryUsage = held(riffSize - offset) }
                header.tableBytes = max(
                    header.tableBytes, LosslessTables.limit(compressedBytes: header.memoryUsage))
                return header
            }
            if bytes.has("VP8 ", at: offset) || bytes.has("VP8L", at: offset) {
                guard let image = try webp(imageChunkAt: offset, of: bytes, limits: limits) else { return nil }
                guard image.size == imageSize else {
                    throw .corrupt(.webp, "the size of the image differs from its header")
                }
                header.hasAlpha = header.hasAlpha || image.hasAlpha
                header.memoryUsage = max(header.memoryUsage, held(length))
                if bytes.has("VP8L", at: offset) {
                    header.tableBytes = max(header.tableBytes, LosslessTables.limit(compressedBytes: held(length)))
                }
                return header
            }
            let isProfile = bytes.has("ICCP", at: offset)
            let isExif = bytes.has("EXIF", at: offset) && header.hasTrailingOrientation
            if isProfile || isExif {
                guard bytes.has(length, at: offset + 8) else { return nil }
                let data = bytes.extracting(offset + 8..<offset + 8 + length)
                if isProfile {
                    header.colorProfile = ProfileDescription.read(data)
                    colors = [ColorSource(profile: data)]
                } else {
                    header.orientation = ImageOrientation(exif: data)
                    header.hasTrailingOrientation = false
                }
            }
            offset += 8 + padded(length)
        }
        return nil
    }

    /// Parses the beginning of a lossy or lossless bitstream.
    private static func webp(
        imageChunkAt offset: Int, of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> ImageHeader? {
        let data = offset + 8
        var size: PixelSize
        var hasAlpha = false
        if bytes.has("VP8L", at: offset) {
            guard let signature = bytes.byte(at: data), let bits = bytes.littleEndian32(at: data + 1) else {
                return nil
            }
            guard signature == 0x2F, bits >> 29 == 0 else { throw .corrupt(.webp, "no lossless bitstream") }
            size = PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
            hasAlpha = bits >> 28 & 1 == 1
        } else {
            guard let tag = bytes.byte(at: data), let startCode = bytes.littleEndian24(at: data + 3),
                let width = bytes.littleEndian16(at: data + 6), let height = bytes.littleEndian16(at: data + 8)
            else { return nil }
            guard tag & 1 == 0, startCode == 0x2A_019D else { throw .corrupt(.webp, "no key frame") }
            size = PixelSize(width: width & 0x3FFF, height: height & 0x3FFF)
        }
        var header = ImageHeader(format: .webp, size: size)
        try limits.check(size, .webp)
        header.hasAlpha = hasAlpha
        return header
    }

    /// Returns `length` rounded up to an even number, because chunks begin at even offsets.
    private static func padded(_ length: Int) -> Int {
        length + length & 1
    }
}
