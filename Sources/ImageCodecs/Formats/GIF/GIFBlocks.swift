/// An incremental parser of the blocks of a GIF, which decodes nothing and continues when more bytes arrive.
struct GIFBlocks {
    /// A block of the file.
    enum Block {
        /// A graphic control extension, which describes the following image.
        case graphicControl(GraphicControl)
        /// The number of repetitions after the first run; 0 means forever.
        case loop(repetitions: Int)
        /// A comment, text or other application extension.
        case otherExtension
        /// An image descriptor. The image's data is skipped by the next step.
        case image(Frame)
        /// The end of the file; following bytes are ignored.
        case trailer
        /// A byte that does not begin a known block; decoders stop here.
        case unknown(Int)
    }

    /// The transparency, delay, and disposal method of an image.
    struct GraphicControl {
        /// The index that leaves the pixel below unchanged.
        var transparentIndex: UInt8?
        /// The delay in hundredths of a second.
        var delay = 0
        /// The disposal method: 1 keeps the image, 2 clears its area, 3 restores the previous content; some encoders
        /// use higher values.
        var disposal = 0
    }

    /// The position and properties of an image.
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

    /// The number of image descriptors received.
    private(set) var imageCount = 0
    /// The start of the next step; can be beyond the received bytes.
    private var offset = 0
    /// The start of the most recent block.
    private(set) var blockStart = 0
    private var isBehindScreen = false
    /// A Boolean value that indicates whether the next step begins inside a chain of sub-blocks, the data of the most
    /// recent block.
    private(set) var isInSubblocks = false

    /// Returns whether a file of `count` bytes would end between two blocks.
    func isBetweenBlocks(at count: Int) -> Bool { offset == count && !isInSubblocks }

    /// Returns how many of `count` bytes are no longer needed; the next step takes the bytes from there on.
    ///
    /// With `keepingBlock`, those of the most recent block are kept.
    mutating func forget(of count: Int, keepingBlock: Bool = false) -> Int {
        let passed = min(keepingBlock ? blockStart : offset, count)
        offset -= passed
        blockStart -= passed
        return passed
    }

    /// Skips the data of the most recent image and returns its range including the descriptor; `nil` until it is
    /// complete.
    mutating func passImage(in bytes: Span<UInt8>) -> Range<Int>? {
        skipSubblocks(in: bytes) ? blockStart..<offset : nil
    }

    /// Returns the length of the part before the first block: signature, screen descriptor, and palette.
    static func screenLength(of file: Span<UInt8>) -> Int {
        min(13 + paletteLength(file.byte(at: 10) ?? 0), file.count)
    }

    /// Returns the next block, or `nil` until it is complete.
    ///
    /// `bytes` is the file from the first byte that has not been discarded.
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

    /// Returns the range of the next sub-block of the most recent block instead of skipping it; `nil` until it is
    /// complete, and after the last one.
    mutating func nextSubblock(in bytes: Span<UInt8>) -> Range<Int>? {
        guard isInSubblocks, let length = bytes.byte(at: offset), bytes.has(length, at: offset + 1) else { return nil }
        let data = offset + 1..<offset + 1 + length
        offset = data.upperBound
        isInSubblocks = length != 0
        return isInSubblocks ? data : nil
    }

    /// Returns the part of a sub-block with which a file of `count` bytes ends; `nil` if it does not end in one.
    func unfinishedSubblock(at count: Int) -> Range<Int>? {
        isInSubblocks && offset < count ? offset + 1..<count : nil
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

    /// Returns whether `offset` is beyond the sub-blocks that it was in, if any.
    private mutating func skipSubblocks(in bytes: Span<UInt8>) -> Bool {
        while isInSubblocks {
            guard let length = bytes.byte(at: offset) else { return false }
            offset += 1 + length
            isInSubblocks = length != 0
        }
        return true
    }

    /// Returns the length in bytes of the palette that a screen or image with these flags has.
    static func paletteLength(_ flags: Int) -> Int {
        flags & 0x80 != 0 ? 3 << (flags & 7 + 1) : 0
    }
}
