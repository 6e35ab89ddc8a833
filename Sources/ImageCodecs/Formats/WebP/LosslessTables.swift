/// Calculates the memory that libwebp needs for a lossless bitstream in addition to its pixels: for the images of its
/// transforms, and for the tables of its prefix codes, of which every block of pixels can have its own group.
///
/// Parses the bitstream of an image or of its alpha incrementally, up to where the codes of the pixels begin. Takes
/// 20 KB, and time proportional to the bytes read, whatever their content: the images before the codes are skipped
/// without decoding their pixels.
struct LosslessTables {
    /// The number of bytes that libwebp needs; `nil` until enough of the bitstream has been received.
    private(set) var bytes: Int?

    /// The size of the image that the codes are for: a palette reduces its width.
    private var size: PixelSize
    private var bits = LowBitReader()
    /// The transforms that have been read, one bit each.
    private var transforms = 0
    /// The image before the codes that is being read, if any.
    private var part: LosslessPart?
    /// A Boolean value that indicates whether the colors of ``part`` select the group of codes of each block.
    private var selectsCodeGroups = false
    /// The number of pixels of all images before the codes.
    private var partPixels = 0
    /// The exponent of the size of the image's color cache, a power of two, or 0 if there is none.
    private var cacheBits = 0
    private var groups = CodeGroups()

    /// Creates tables of an image of `size`.
    init(size: PixelSize) {
        self.size = size
    }

    /// Continues to read `data`, the received bitstream after its header, until ``bytes`` is known.
    ///
    /// Throws `corrupt`.
    mutating func read(_ data: Span<UInt8>) throws(CodecError) {
        while bytes == nil {
            guard try part == nil ? readHead(data) : readPixels(data) else { return }
        }
    }

    /// Reads up to the first pixel of the next image, or to the codes; returns `false` if more bytes are needed.
    private mutating func readHead(_ data: Span<UInt8>) throws(CodecError) -> Bool {
        // If there are too few bytes, they are read again later.
        var next = self
        let isValid = next.takeHead(data)
        guard !next.bits.isPastEnd(of: data) else { return false }
        guard isValid else { throw .corrupt(.webp, "invalid image data") }
        self = next
        return true
    }

    private mutating func takeHead(_ data: Span<UInt8>) -> Bool {
        guard bits.read(1, in: data) == 0 else { return takeTransform(data) }
        if bits.read(1, in: data) == 1 {
            cacheBits = bits.read(4, in: data)
            guard LosslessPart.cacheBits.contains(cacheBits) else { return false }
        }
        if bits.read(1, in: data) == 1 {
            selectsCodeGroups = true
            return takeBlocks(data)
        }
        groups.insert(0)
        count()
        return true
    }

    private mutating func takeTransform(_ data: Span<UInt8>) -> Bool {
        let transform = bits.read(2, in: data)
        guard transforms & 1 << transform == 0 else { return false }
        transforms |= 1 << transform
        switch transform {
        case 0, 1: return takeBlocks(data)  // a predictor or color factors for each block
        case 2: return true  // green is subtracted
        default:
            let colors = bits.read(8, in: data) + 1
            let pixelsPerByte = colors > 16 ? 1 : colors > 4 ? 2 : colors > 2 ? 4 : 8
            size.width = (size.width + pixelsPerByte - 1) / pixelsPerByte
            return takePart(pixels: colors, data)
        }
    }

    /// Begins an image with one pixel per block.
    private mutating func takeBlocks(_ data: Span<UInt8>) -> Bool {
        let side = 1 << (bits.read(3, in: data) + 2)
        return takePart(pixels: (size.width + side - 1) / side * ((size.height + side - 1) / side), data)
    }

    private mutating func takePart(pixels: Int, _ data: Span<UInt8>) -> Bool {
        partPixels += pixels
        part = LosslessPart(pixels: pixels, &bits, in: data)
        return part != nil
    }

    /// Reads the pixels of an image before the codes; returns `false` if more bytes are needed.
    private mutating func readPixels(_ data: Span<UInt8>) throws(CodecError) -> Bool {
        while let left = part?.pixelsLeft, left > 0 {
            guard let colors = try part?.next(&bits, in: data) else { return false }
            if selectsCodeGroups, case .new(let group) = colors { groups.insert(group) }
        }
        part = nil
        if selectsCodeGroups { count() }
        return true
    }

    private mutating func count() {
        bytes = partPixels * 4 + groups.count(pixels: size.area) * CodeGroups.bytes(cacheBits: cacheBits)
    }
}

/// The groups of prefix codes selected by the blocks of a lossless image.
private struct CodeGroups {
    private static let maximum = 1 << 16

    /// One bit per group.
    private var chosen = [UInt64](repeating: 0, count: maximum / 64)
    private var chosenCount = 0
    private var highest = 0

    mutating func insert(_ group: Int) {
        highest = max(highest, group)
        guard chosen[group / 64] & 1 << (group % 64) == 0 else { return }
        chosen[group / 64] |= 1 << (group % 64)
        chosenCount += 1
    }

    /// Returns the number of groups for which libwebp builds tables, in an image with this number of pixels: for all
    /// groups up to the highest selected one, or only for the selected ones if the highest number is at least 1,000 or
    /// the number of pixels.
    func count(pixels: Int) -> Int {
        highest < min(1_000, pixels) ? highest + 1 : chosenCount
    }

    /// Returns the size in bytes of libwebp's tables for a group if the image has a color cache of `cacheBits`.
    static func bytes(cacheBits: Int) -> Int {
        // Computed with zlib's examples/enough.c: the maximum number of entries for 8 bits and a second level.
        let greenEntries = [654, 656, 658, 662, 670, 686, 718, 782, 912, 1_168, 1_680, 2_704]
        let otherEntries = 630 * 3 + 410
        return (greenEntries[cacheBits] + otherEntries) * 4 + 568
    }
}
