/// The segments of a JPEG file in front of its first scan.
struct JPEGMetadataSegments {
    /// A segment, without its marker and its length.
    struct Segment {
        let marker: Int
        /// The position of its content in the file.
        let content: Range<Int>
    }

    private(set) var segments: [Segment] = []
    /// A Boolean value that indicates whether no further segment precedes the first scan, as far as the file can be read.
    private(set) var isComplete = false

    /// Reads the segments of `file`, of which the end can be missing.
    init(_ file: Span<UInt8>) {
        var offset = 2
        while let byte = file.byte(at: offset), let marker = file.byte(at: offset + 1) {
            guard byte == 0xFF, marker != 0xDA, marker != 0xD9 else {
                isComplete = true
                return
            }
            // A fill byte.
            if marker == 0xFF {
                offset += 1
                continue
            }
            guard let length = file.bigEndian16(at: offset + 2) else { return }
            guard length >= 2 else {
                isComplete = true
                return
            }
            guard file.has(length, at: offset + 2) else { return }
            segments.append(Segment(marker: marker, content: offset + 4..<offset + 2 + length))
            offset += 2 + length
        }
    }
}
