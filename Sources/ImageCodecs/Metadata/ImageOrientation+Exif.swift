extension ImageOrientation {
    /// Creates the orientation from Exif metadata (a TIFF header and its first directory); `.up` if it is missing or
    /// invalid.
    ///
    /// `Exif` and two zero bytes can precede the header, as in JPEG.
    init(exif metadata: Span<UInt8>) {
        self = Self.read(metadata) ?? .up
    }

    private static func read(_ metadata: Span<UInt8>) -> ImageOrientation? {
        place(inExif: metadata).flatMap { ImageOrientation(rawValue: Int(metadata[$0])) }
    }

    /// Returns the position in `metadata` of the low byte of the orientation, if present and below 256.
    static func place(inExif metadata: Span<UInt8>) -> Int? {
        let start = metadata.has("Exif\0\0", at: 0) ? 6 : 0
        let tiff = metadata.extracting(start...)
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
            let value: (number: Int?, length: Int)
            switch type {
            case 3: value = (short(at: entry + 8), 2)
            case 4: value = (long(at: entry + 8), 4)  // some encoders use LONG
            default: return nil
            }
            guard let number = value.number, number < 256 else { return nil }
            return start + entry + 8 + (isLittleEndian ? 0 : value.length - 1)
        }
        return nil
    }
}
