/// The directory of the pictures in a JPEG file (CIPA DC-007, Multi-Picture Format).
enum JPEGPictureDirectory {
    /// The maximum number of pictures that are read.
    private static let maximumCount = 16

    /// Returns the places of the pictures behind the image; `nil` if more of the file is needed, and none if it has no
    /// directory.
    static func places(in file: Span<UInt8>) -> [Range<Int>]? {
        let list = JPEGMetadataSegments(file)
        for segment in list.segments where segment.marker == 0xE2 {
            let content = file.extracting(segment.content)
            guard content.has("MPF\0", at: 0) else { continue }
            // Offsets count from the TIFF header.
            return places(in: content.extracting(4...)).map {
                $0.lowerBound + segment.content.lowerBound + 4..<$0.upperBound + segment.content.lowerBound + 4
            }
        }
        return list.isComplete ? [] : nil
    }

    private static func places(in tiff: Span<UInt8>) -> [Range<Int>] {
        let isLittleEndian = tiff.has("II", at: 0)
        guard isLittleEndian || tiff.has("MM", at: 0) else { return [] }

        func short(at offset: Int) -> Int? {
            isLittleEndian ? tiff.littleEndian16(at: offset) : tiff.bigEndian16(at: offset)
        }
        func long(at offset: Int) -> Int? {
            isLittleEndian ? tiff.littleEndian32(at: offset) : tiff.bigEndian32(at: offset)
        }

        guard let directory = long(at: 4), let count = short(at: directory) else { return [] }
        let fields = (0..<count).lazy.map { directory + 2 + $0 * 12 }
        guard let field = fields.first(where: { short(at: $0) == 0xB002 }), let byteCount = long(at: field + 4),
            let start = long(at: field + 8)
        else { return [] }
        // The first entry is the image itself.
        return (0..<min(byteCount / 16, maximumCount)).dropFirst().compactMap { index in
            let entry = start + index * 16
            guard let size = long(at: entry + 4), let offset = long(at: entry + 8), size > 0, offset > 0 else {
                return nil
            }
            return offset..<offset + size
        }
    }
}
