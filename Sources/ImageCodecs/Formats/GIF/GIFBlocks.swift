/// Walks over the blocks of a GIF without decoding anything; can go on where it stopped when more bytes have come.
struct GIFBlocks {
    /// A block of the file.
    enum Block {
        /// A graphic control extension, which tells of the following image.
        case graphicControl(GraphicControl)
        /// How often the animation is repeated after its first run, 0 being without end.
        case loop(repetitions: Int)
        /// A comment, text or other application extension.
        case otherExtension
        /// An image descriptor. The image's data are skipped by the next step.
        case image(Frame)
        /// The end of the file; what follows is not looked at.
        case trailer
        /// A byte that begins no block: readers stop here.
        case unknown(Int)
    }

    /// How an image is painted, how long it is shown, and what becomes of it.
    struct GraphicControl {
        /// The index that leaves what is below.
        var transparentIndex: UInt8?
        /// In hundredths of a second.
        var delay = 0
        /// 1 to leave it, 2 to clear its place, 3 to bring back what was there before; more by some writers.
        var disposal = 0
    }

    /// Where an image stands on the canvas.
    struct Frame {
        var left: Int
        var top: Int
        var size: PixelSize
        var isInterlaced: Bool
        /// A Boolean value that indicates whether it has a palette of its own.
        var hasPalette = true

        func covers(_ canvas: PixelSize) -> Bool {
            left == 0 && top == 0 && size.width >= canvas.width && size.height >= canvas.height
        }
    }

    /// Images whose descriptors have come.
    private(set) var imageCount = 0
    /// Where the next step begins; may be behind what has come.
    private var offset = 0
    /// Where the block found last begins.
    private(set) var blockStart = 0
    private var isBehindScreen = false
    /// A Boolean value that indicates whether the next step begins inside a chain of sub-blocks, the data of the
    /// block found last.
    private(set) var isInSubblocks = false

    /// Returns whether a file of `count` bytes would end between two blocks.
    func isBetweenBlocks(at count: Int) -> Bool { offset == count && !isInSubblocks }

    /// Says how many of `count` bytes are not needed any more; the next step takes the bytes from there on.
    ///
    /// With `keepingBlock` those of the block found last are needed.
    mutating func forget(of count: Int, keepingBlock: Bool = false) -> Int {
        let passed = min(keepingBlock ? blockStart : offset, count)
        offset -= passed
        blockStart -= passed
        return passed
    }

    /// Passes over the data of the image found last, and says where it is with its descriptor; nil until all has come.
    mutating func passImage(in bytes: Span<UInt8>) -> Range<Int>? {
        skipSubblocks(in: bytes) ? blockStart..<offset : nil
    }

    /// The length of what comes before the first block: the signature, the screen and its palette.
    static func screenLength(of file: Span<UInt8>) -> Int {
        min(13 + paletteLength(file.byte(at: 10) ?? 0), file.count)
    }

    /// The next block, or nil until more has come; `bytes` is the file from its first byte that is not forgotten.
    mutating func next(in bytes: Span<UInt8>) -> Block? {
        if !isBehindScreen {
            guard let flags = bytes.byte(at: 10) else { return nil }
            offset = 13 + Self.paletteLength(flags)
            isBehindScreen = true
        }
        guard skipSubblocks(in: bytes), let introducer = bytes.byte(at: offset) else { return nil }
        blockStart = offset
        switch introducer {
        case 0x21: return nextExtension(in: bytes)
        case 0x2C: return nextImage(in: bytes)
        case 0x3B: return .trailer
        default: return .unknown(introducer)
        }
    }

    /// Where the next sub-block of the block found last is, in place of skipping it; nil until it has come, and behind the last
    /// one.
    mutating func nextSubblock(in bytes: Span<UInt8>) -> Range<Int>? {
        guard isInSubblocks, let length = bytes.byte(at: offset), bytes.has(length, at: offset + 1) else { return nil }
        let data = offset + 1..<offset + 1 + length
        offset = data.upperBound
        isInSubblocks = length != 0
        return isInSubblocks ? data : nil
    }

    private mutating func nextExtension(in bytes: Span<UInt8>) -> Block? {
        guard let label = bytes.byte(at: offset + 1), let length = bytes.byte(at: offset + 2) else { return nil }
        var block = Block.otherExtension
        if label == 0xF9, length == 4 {
            guard let control = graphicControl(in: bytes) else { return nil }
            block = .graphicControl(control)
        } else if label == 0xFF, length == 11 {
            guard let contentLength = bytes.byte(at: offset + 14) else { return nil }
            if contentLength == 3,
                bytes.has("NETSCAPE2.0", at: offset + 3) || bytes.has("ANIMEXTS1.0", at: offset + 3)
            {
                guard let kind = bytes.byte(at: offset + 15), let repetitions = bytes.littleEndian16(at: offset + 16)
                else { return nil }
                if kind & 7 == 1 { block = .loop(repetitions: repetitions) }
            }
        }
        offset += 2
        isInSubblocks = true
        return block
    }

    private func graphicControl(in bytes: Span<UInt8>) -> GraphicControl? {
        guard let flags = bytes.byte(at: offset + 3), let delay = bytes.littleEndian16(at: offset + 4),
            let index = bytes.byte(at: offset + 6)
        else { return nil }
        return GraphicControl(
            transparentIndex: flags & 1 == 1 ? UInt8(index) : nil, delay: delay, disposal: flags >> 2 & 7)
    }

    private mutating func nextImage(in bytes: Span<UInt8>) -> Block? {
        guard let left = bytes.littleEndian16(at: offset + 1), let top = bytes.littleEndian16(at: offset + 3),
            let width = bytes.littleEndian16(at: offset + 5), let height = bytes.littleEndian16(at: offset + 7),
            let flags = bytes.byte(at: offset + 9)
        else { return nil }
        imageCount += 1
        offset += 10 + Self.paletteLength(flags) + 1  // and the LZW code size
        isInSubblocks = true
        return .image(
            Frame(
                left: left, top: top, size: PixelSize(width: width, height: height),
                isInterlaced: flags & 0x40 != 0, hasPalette: flags & 0x80 != 0))
    }

    /// Returns whether `offset` has come behind the sub-blocks it was in, if any.
    private mutating func skipSubblocks(in bytes: Span<UInt8>) -> Bool {
        while isInSubblocks {
            guard let length = bytes.byte(at: offset) else { return false }
            offset += 1 + length
            isInSubblocks = length != 0
        }
        return true
    }

    /// The bytes of the palette that a screen or an image with these flags has.
    static func paletteLength(_ flags: Int) -> Int {
        flags & 0x80 != 0 ? 3 << (flags & 7 + 1) : 0
    }
}
