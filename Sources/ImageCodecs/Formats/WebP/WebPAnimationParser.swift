/// Finds the frames of an animated WebP; each is complete with its `ANMF` chunk.
struct WebPAnimationParser: AnimationParser {
    static let blending = FrameBlending.libwebp

    var index: AnimationIndex
    private var offset = 12
    /// The end of the file according to its header.
    private var end: Int
    private(set) var hasEnded = false

    init(_ index: AnimationIndex, beginning: Span<UInt8>) {
        self.index = index
        end = 8 + (beginning.littleEndian32(at: 4) ?? 0)
    }

    mutating func consume(_ bytes: Span<UInt8>) throws(CodecError) {
        while offset + 8 <= end, let length = bytes.littleEndian32(at: offset + 4) {
            guard length <= end - offset - 8 else { throw .truncated(.webp) }
            if Self.names.contains(where: { bytes.has($0, at: offset) }) {
                guard bytes.has(length, at: offset + 8) else { return }
                try take(bytes.extracting(offset + 8..<offset + 8 + length), of: bytes)
            }
            offset += 8 + length + length & 1
        }
        hasEnded = offset + 8 > end && bytes.count >= end
    }

    mutating func forget(of count: Int) -> Int {
        let passed = min(offset, count)
        offset -= passed
        end -= passed
        return passed
    }

    mutating func finish(at count: Int) throws(CodecError) {
        guard hasEnded else { throw .truncated(.webp) }
        guard !index.frames.isEmpty else { throw .corrupt(.webp, "an animation without frames") }
    }

    /// The chunks that are parsed.
    private static let names: [StaticString] = ["ANMF", "ANIM", "EXIF"]

    /// Processes the content `data` of the chunk at ``offset``.
    private mutating func take(_ data: Span<UInt8>, of bytes: Span<UInt8>) throws(CodecError) {
        if bytes.has("ANIM", at: offset), data.count >= 6 {
            index.repetitionCount = data.littleEndian16(at: 4) ?? 0
        } else if bytes.has("ANMF", at: offset) {
            guard let frame = StoredFrame(webp: data), frame.isInside(index.header.size) else {
                throw .corrupt(.webp, "a frame that leaves the canvas")
            }
            try index.add(frame)
        } else if bytes.has("EXIF", at: offset), index.header.hasTrailingOrientation {
            index.header.orientation = ImageOrientation(exif: data)
            index.header.hasTrailingOrientation = false
        }
    }
}

extension StoredFrame {
    /// Creates the frame in an `ANMF` chunk.
    fileprivate init?(webp chunk: Span<UInt8>) {
        guard chunk.count >= 16, let left = chunk.littleEndian24(at: 0), let top = chunk.littleEndian24(at: 3),
            let width = chunk.littleEndian24(at: 6), let height = chunk.littleEndian24(at: 9),
            let milliseconds = chunk.littleEndian24(at: 12), let flags = chunk.byte(at: 15)
        else { return nil }
        self.left = left * 2
        self.top = top * 2
        size = PixelSize(width: width + 1, height: height + 1)
        delay = .milliseconds(milliseconds)
        disposal = flags & 1 == 1 ? .background : .keep
        blend = flags & 2 == 2 ? .source : .over
        data = Array(copying: chunk.extracting(droppingFirst: 16))
        tableBytes = Self.hasLosslessData(data.span) ? LosslessTables.limit(compressedBytes: data.count) : 0
    }

    /// Returns whether `chunks`, those of a frame, begin with lossless pixels or lossless alpha.
    private static func hasLosslessData(_ chunks: Span<UInt8>) -> Bool {
        var offset = 0
        while let length = chunks.littleEndian32(at: offset + 4) {
            if chunks.has("VP8L", at: offset) { return true }
            if chunks.has("VP8 ", at: offset) { return false }
            if chunks.has("ALPH", at: offset), let method = chunks.byte(at: offset + 8), method & 3 == 1 { return true }
            offset += 8 + length + length & 1
        }
        return false
    }

    fileprivate func isInside(_ canvas: PixelSize) -> Bool {
        left + size.width <= canvas.width && top + size.height <= canvas.height
    }
}
