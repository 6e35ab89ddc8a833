extension ImageHeader {
    /// Returns the header of a JPEG, which is complete at its first scan: all relevant metadata precedes it.
    ///
    /// Skips segments by their lengths, so that embedded thumbnails are ignored, and skips the same bytes as libjpeg.
    static func jpeg(
        _ bytes: Span<UInt8>, limits: DecodeLimits, colors: inout [ColorSource]
    ) throws(CodecError) -> ImageHeader? {
        var frame: ImageHeader?
        var orientation: ImageOrientation?
        var hasGainMap = false
        var colorProfile: String?
        var profile = JPEGProfileParts()
        var offset = 2
        while let (marker, segment) = nextMarker(in: bytes, from: offset) {
            switch marker {
            case 0x01, 0xD0...0xD7:  // TEM, RST: no segment
                offset = segment
                continue
            case 0xD8: throw .corrupt(.jpeg, "a second start of image")
            case 0xD9: throw .corrupt(.jpeg, "the image ends before it has begun")
            case 0xDA:  // SOS
                guard var header = frame else { throw .corrupt(.jpeg, "a scan without a frame") }
                guard let channels = bytes.byte(at: segment + 2) else { return nil }
                header.hasSeparateScans = !header.isProgressive && channels < header.colorChannels
                header.orientation = orientation ?? .up
                header.hasGainMap = hasGainMap
                header.colorProfile = colorProfile
                colors = profile.sources
                return header
            default: break
            }

            guard let length = bytes.bigEndian16(at: segment) else { return nil }
            if length < 2, (0xE0...0xEF).contains(marker) || marker == 0xFE {
                // libjpeg reads only the length of segments that it skips; the search for the next marker continues.
                offset = segment + 2
                continue
            }
            guard length >= 2 else { throw .corrupt(.jpeg, "a segment of \(length) bytes") }
            guard bytes.has(length, at: segment) else { return nil }
            let content = bytes.extracting(segment + 2..<segment + length)
            switch marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:  // SOF; C4, C8 and CC are something else
                guard frame == nil else { throw .corrupt(.jpeg, "a second frame") }
                frame = try jpeg(frame: content, marker: marker, limits: limits)
            case 0xE1 where content.has("Exif\0\0", at: 0):
                orientation = orientation ?? ImageOrientation(exif: content)
            case 0xE2 where content.has("ICC_PROFILE\0", at: 0):
                profile.add(content)
                // A profile can be spread over segments; its description is in the first.
                if content.byte(at: 12) == 1, content.count > 14 {
                    colorProfile = ProfileDescription.read(content.extracting(14...))
                } else {
                    colorProfile = colorProfile ?? ProfileDescription.unnamed
                }
            default: hasGainMap = hasGainMap || describesGainMap(marker, content)
            }
            offset = segment + length
        }
        return nil
    }

    /// Returns whether a segment is metadata of a gain map, either of the image or of the map itself.
    static func describesGainMap(_ marker: Int, _ content: Span<UInt8>) -> Bool {
        switch marker {
        case 0xE1 where content.has("http://ns.adobe.com/xap/1.0/\0", at: 0):
            (0..<content.count).contains { content.has("http://ns.adobe.com/hdr-gain-map/1.0/", at: $0) }
        case 0xE2: content.has("urn:iso:std:iso:ts:21496:-1\0", at: 0)
        default: false
        }
    }

    /// Returns the next marker from `offset` and the start of its segment; garbage and fill bytes before it are
    /// skipped.
    private static func nextMarker(in bytes: Span<UInt8>, from offset: Int) -> (marker: Int, segment: Int)? {
        var offset = offset
        while let byte = bytes.byte(at: offset) {
            offset += 1
            guard byte == 0xFF else { continue }
            while bytes.byte(at: offset) == 0xFF { offset += 1 }
            guard let marker = bytes.byte(at: offset) else { return nil }
            offset += 1
            if marker != 0 { return (marker, offset) }
        }
        return nil
    }

    private static func jpeg(
        frame: Span<UInt8>, marker: Int, limits: DecodeLimits
    ) throws(CodecError) -> ImageHeader {
        guard let precision = frame.byte(at: 0), let height = frame.bigEndian16(at: 1),
            let width = frame.bigEndian16(at: 3), let components = frame.byte(at: 5),
            frame.has(components * 3, at: 6)
        else { throw .corrupt(.jpeg, "the frame header is too short") }
        switch marker {
        case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA: break
        case 0xC3, 0xCB: throw .unsupportedFeature(.jpeg, "lossless JPEG")
        default: throw .unsupportedFeature(.jpeg, "hierarchical JPEG")
        }
        guard precision == 8 else { throw .unsupportedFeature(.jpeg, "\(precision) bits per channel") }
        guard [1, 3, 4].contains(components) else { throw .unsupportedFeature(.jpeg, "\(components) components") }

        var header = ImageHeader(format: .jpeg, size: PixelSize(width: width, height: height))
        try limits.check(header.size, .jpeg)
        header.isProgressive = marker == 0xC2 || marker == 0xCA
        if marker >= 0xC9 { header.memoryUsage = min(limits.maximumBytes, JPEGDecoderHandle.maximumHeldBytes) }
        header.colorChannels = components
        header.isGray = components == 1
        header.sampling = (0..<components).map { SamplingFactors(byte: frame[6 + $0 * 3 + 1]) }
        guard header.sampling.allSatisfy(\.isValid) else { throw .corrupt(.jpeg, "sampling factors out of range") }
        return header
    }
}
