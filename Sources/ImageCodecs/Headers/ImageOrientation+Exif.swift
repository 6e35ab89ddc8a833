extension ImageOrientation {
    /// The orientation in Exif metadata (a TIFF header and its first directory), `.up` if it says nothing or nonsense.
    ///
    /// The header may be led by `Exif` and two zeros, as in JPEG.
    init(exif metadata: Span<UInt8>) {
        self = Self.read(metadata) ?? .up
    }

    private static func read(_ metadata: Span<UInt8>) -> ImageOrientation? {
        let tiff = metadata.has("Exif\0\0", at: 0) ? metadata.extracting(6...) : metadata
        let isLittleEndian = tiff.has("II", at: 0)
        guard isLittleEndian || tiff.has("MM", at: 0) else { return nil }

        func short(at offset: Int) -> Int? {
            isLittleEndian ? tiff.littleEndian16(at: offset) : tiff.bigEndian16(at: offset)
        }
        func long(at offset: Int) -> Int? {
            isLittleEndian ? tiff.littleEndian32(at: offset) : tiff.bigEndian32(at: offset)
        }

        guard short(at: 2) == 42, let directory = long(at: 4), let entryCount = short(at: directory) else { return nil }
        for index in 0..<entryCount {
            let entry = directory + 2 + index * 12
            guard let tag = short(at: entry), let type = short(at: entry + 2) else { return nil }
            guard tag == 0x0112 else { continue }
            switch type {
            case 3: return short(at: entry + 8).flatMap(ImageOrientation.init(rawValue:))
            case 4: return long(at: entry + 8).flatMap(ImageOrientation.init(rawValue:))  // some writers use LONG
            default: return nil
            }
        }
        return nil
    }
}
