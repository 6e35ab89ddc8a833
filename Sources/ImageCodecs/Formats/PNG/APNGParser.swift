/// Finds the frames of an APNG by its chunks `acTL`, `fcTL`, and `fdAT`, which libpng does not support.
///
/// A frame can have any number of chunks: it is complete at the header of the chunk after them.
struct APNGParser: AnimationParser {
    static let hasDefaultImage = true

    var index: AnimationIndex
    private var offset = 8
    private var declaredFrames = 0
    /// The frame whose data is being received.
    private var open: StoredFrame?
    private var sequence = 0
    private var hasPixels = false
    private var hasPalette = false
    private var hasTransparency = false
    private(set) var hasEnded = false
    /// The file up to its first pixels, and the chunks of the default image if that is not a frame.
    private var head: [UInt8] = []
    private var hiddenImage: [UInt8] = []

    init(_ index: AnimationIndex, beginning: Span<UInt8>) {
        self.index = index
        // The part of `IHDR` that is the same for all frames.
        self.index.preamble = Array(copying: beginning.extracting(24..<29))
        var end = 8
        while let chunk = PNGChunk(at: end, of: beginning), !beginning.has("IDAT", at: chunk.name) { end = chunk.end }
        head = Array(copying: beginning.extracting(first: end))
    }

    var defaultImage: [UInt8]? {
        let image = hiddenImage.isEmpty ? (index.frames.first ?? open)?.data ?? [] : hiddenImage
        guard !image.isEmpty else { return nil }
        var file = head + image
        file.append(pngChunk: "IEND")
        return file
    }

    mutating func consume(_ bytes: Span<UInt8>) throws(CodecError) {
        while !hasEnded, let chunk = PNGChunk(at: offset, of: bytes) {
            if bytes.has("fcTL", at: chunk.name) || bytes.has("IEND", at: chunk.name) { try close() }
            if Self.names.contains(where: { bytes.has($0, at: chunk.name) }) {
                guard bytes.has(chunk.length + 12, at: offset) else { return }
                try take(chunk, of: bytes)
            }
            offset = chunk.end
        }
    }

    mutating func forget(of count: Int) -> Int {
        let passed = min(offset, count)
        offset -= passed
        return passed
    }

    mutating func finish(at count: Int) throws(CodecError) {
        guard !hasEnded else { return }
        if index.frames.count + 1 == declaredFrames, let frame = open, isWhole(frame) { try close() }
        guard index.frames.count >= declaredFrames, !index.frames.isEmpty else { throw .truncated(.png) }
        index.header.warnings.insert(.missingEnd)
        hasEnded = true
    }

    /// Returns whether the last frame of a file without an end chunk has all pixels, which only its data shows.
    private func isWhole(_ frame: StoredFrame) -> Bool {
        let still = Self.still(frame, of: index)
        return (try? PNGVerifier(header: index.stillHeader(frame), limits: DecodeLimits()).accepts(still.span)) == true
    }

    /// The chunks that are parsed.
    private static let names: [StaticString] = ["fdAT", "fcTL", "IDAT", "acTL", "PLTE", "tRNS", "eXIf", "IEND"]

    private mutating func take(_ chunk: PNGChunk, of bytes: Span<UInt8>) throws(CodecError) {
        let data = bytes.extracting(chunk.data)
        let whole = bytes.extracting(offset..<chunk.end)
        if bytes.has("IDAT", at: chunk.name) {
            hasPixels = true
            // Without a preceding frame control, the image is only for viewers without APNG support.
            guard index.frames.isEmpty else { return }
            if open == nil { hiddenImage.append(whole) } else { open?.data.append(whole) }
        } else if bytes.has("fdAT", at: chunk.name) {
            try take(sequenceOf: data)
            guard hasPixels, open != nil else { throw .corrupt(.png, "frame data without a frame") }
            open?.data.append(whole)
        } else if bytes.has("fcTL", at: chunk.name) {
            try take(sequenceOf: data)
            guard chunk.isIntact(in: bytes) else { throw .corrupt(.png, "a frame control with a wrong checksum") }
            try beginFrame(data)
        } else if bytes.has("acTL", at: chunk.name), !hasPixels {
            guard chunk.isIntact(in: bytes), let count = data.bigEndian32(at: 0), let plays = data.bigEndian32(at: 4)
            else { throw .corrupt(.png, "an invalid animation control") }
            (declaredFrames, index.repetitionCount) = (count, plays)
        } else if bytes.has("PLTE", at: chunk.name), !hasPalette {
            hasPalette = true
            index.preamble.append(whole)
        } else if bytes.has("tRNS", at: chunk.name), !hasTransparency {
            hasTransparency = true
            index.preamble.append(whole)
        } else if bytes.has("eXIf", at: chunk.name), !hasPixels {
            // After pixels it is too late for frames that have been shown.
            index.header.orientation = ImageOrientation(exif: data)
        } else if bytes.has("IEND", at: chunk.name) {
            guard index.frames.count >= declaredFrames, !index.frames.isEmpty else {
                throw .corrupt(.png, "\(index.frames.count) frames instead of \(declaredFrames)")
            }
            hasEnded = true
        }
    }

    /// Checks the sequence number that all frame controls and frame data share.
    private mutating func take(sequenceOf data: Span<UInt8>) throws(CodecError) {
        guard data.bigEndian32(at: 0) == sequence else { throw .corrupt(.png, "frames out of order") }
        sequence += 1
    }

    private mutating func beginFrame(_ data: Span<UInt8>) throws(CodecError) {
        let canvas = index.header.size
        guard data.count == 26, let width = data.bigEndian32(at: 4), let height = data.bigEndian32(at: 8),
            let left = data.bigEndian32(at: 12), let top = data.bigEndian32(at: 16),
            let numerator = data.bigEndian16(at: 20), let denominator = data.bigEndian16(at: 22),
            data[24] <= 2, data[25] <= 1
        else { throw .corrupt(.png, "a frame control that cannot be read") }
        guard width > 0, height > 0, left + width <= canvas.width, top + height <= canvas.height else {
            throw .corrupt(.png, "a frame that leaves the canvas")
        }
        var frame = StoredFrame(
            left: left, top: top, size: PixelSize(width: width, height: height),
            delay: .seconds(numerator) / (denominator == 0 ? 100 : denominator), data: [])
        frame.disposal = [.keep, .background, .previous][Int(data[24])]
        frame.blend = data[25] == 1 ? .over : .source
        if !hasPixels, !frame.covers(canvas) {
            throw .corrupt(.png, "a first frame of another size than the image")
        }
        open = frame
    }

    private mutating func close() throws(CodecError) {
        guard let frame = open else { return }
        open = nil
        guard !frame.data.isEmpty else { throw .corrupt(.png, "a frame without data") }
        // Frames in excess of the declared number are not shown.
        if index.frames.count < declaredFrames { try index.add(frame) }
    }
}
