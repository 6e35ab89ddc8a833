/// The images of an ICO, according to its first bytes.
struct IconDirectory: Sendable {
    /// An image of the icon.
    struct Entry: Sendable {
        let size: PixelSize
        /// A Boolean value that indicates whether a side can be longer: 256 pixels or more are stored as 0.
        var isOpenEnded: Bool { max(size.width, size.height) == 256 }
        let bitsPerPixel: Int
        /// The place of the image in the file; its end can be beyond that of the file.
        let place: Range<Int>
    }

    /// The maximum number of images, far more than icons have, so that a file cannot make the directory take much memory.
    static let maximumCount = 1_024

    private let entries: [Entry]

    /// The length of the directory in bytes.
    var length: Int { 6 + entries.count * 16 }

    /// Returns the length of the directory that begins with `bytes`, or of the part that declares it.
    static func length(_ bytes: Span<UInt8>) -> Int { 6 + (bytes.littleEndian16(at: 4) ?? 0) * 16 }

    /// Parses the directory; returns `nil` if more bytes are needed.
    init?(_ bytes: Span<UInt8>) throws(CodecError) {
        guard let count = bytes.littleEndian16(at: 4) else { return nil }
        guard count > 0 else { throw .corrupt(.ico, "no image") }
        guard count <= Self.maximumCount else {
            throw .corrupt(.ico, "a directory of \(count) images, more than \(Self.maximumCount)")
        }
        guard bytes.has(count * 16, at: 6) else { return nil }
        var entries: [Entry] = []
        entries.reserveCapacity(count)
        for start in stride(from: 6, to: 6 + count * 16, by: 16) {
            /// Returns a side in pixels, of which 256 is stored as 0.
            func side(_ offset: Int) -> Int { bytes[start + offset] == 0 ? 256 : Int(bytes[start + offset]) }
            let declaredBits = bytes.littleEndian16(at: start + 6) ?? 0
            let offset = bytes.littleEndian32(at: start + 12) ?? 0
            entries.append(
                Entry(
                    size: PixelSize(width: side(0), height: side(1)),
                    bitsPerPixel: declaredBits > 0 ? declaredBits : Self.bits(colorCount: bytes[start + 2]),
                    place: offset..<offset + (bytes.littleEndian32(at: start + 8) ?? 0)))
        }
        self.entries = entries
    }

    /// Returns the number of bits of an index of this many colors, of which 256 or more are stored as 0.
    private static func bits(colorCount: UInt8) -> Int {
        colorCount == 0 ? 8 : max(1, UInt8.bitWidth - (colorCount - 1).leadingZeroBitCount)
    }

    /// The best of the largest images.
    var largest: Entry? { entries.max { ($0.size.area, $0.bitsPerPixel) < ($1.size.area, $1.bitsPerPixel) } }

    /// Returns the sizes of smaller images with the same aspect ratio as the largest, whose size is `whole`, which can take
    /// its place; the smallest first.
    func smallerSizes(than whole: PixelSize) -> [PixelSize] {
        let limit = min(whole.area, largest?.size.area ?? 0)
        let sizes = entries.map(\.size).filter {
            $0.area < limit && $0.width * whole.height == $0.height * whole.width
        }
        return Set(sizes).sorted { $0.area < $1.area }
    }

    /// Returns the best image that is declared to have this size.
    func best(of size: PixelSize) -> Entry? {
        entries.filter { $0.size == size }.max { $0.bitsPerPixel < $1.bitsPerPixel }
    }
}
