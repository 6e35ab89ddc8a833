extension AnimationIndex {
    /// Reads the chunks of APNG, which libpng does not know: `acTL`, `fcTL` and `fdAT`.
    init(png file: Span<UInt8>, header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        var walk = APNGWalk(header: header, limits: limits)
        var offset = 8
        while let chunk = PNGChunk(at: offset, of: file) {
            guard file.has(chunk.length + 12, at: offset) else { break }
            if try walk.pass(chunk, of: file) {
                self.init(
                    header: walk.header, loopCount: walk.loopCount, frames: walk.frames, preamble: walk.preamble)
                return
            }
            offset = chunk.end
        }
        throw .truncated(.png)
    }

    /// The same image with the frame's size and data.
    func pngStill(_ frame: StoredFrame, of file: Span<UInt8>) -> [UInt8] {
        var still = [UInt8].pngSignature
        var head: [UInt8] = []
        head.append(bigEndian32: frame.size.width)
        head.append(bigEndian32: frame.size.height)
        still.append(pngChunk: "IHDR", head, file.extracting(24..<29))
        still += preamble
        var offset = frame.data.lowerBound
        while offset < frame.data.upperBound, let chunk = PNGChunk(at: offset, of: file) {
            if file.has("IDAT", at: chunk.name) {
                still.append(file.extracting(offset..<chunk.end))
            } else if file.has("fdAT", at: chunk.name) {
                // Behind the sequence number. A checksum that was wrong stays wrong, for libpng to find.
                still.append(pngChunk: "IDAT", [], file.extracting(chunk.data.lowerBound + 4..<chunk.data.upperBound))
                if !chunk.isIntact(in: file) { still[still.count - 1] ^= 1 }
            }
            offset = chunk.end
        }
        still.append(pngChunk: "IEND")
        return still
    }
}

/// Where a chunk is in its file.
private struct PNGChunk {
    let name: Int
    let length: Int

    var data: Range<Int> { name + 4..<name + 4 + length }
    var end: Int { name + length + 8 }

    init?(at offset: Int, of file: Span<UInt8>) {
        guard file.has(8, at: offset), let length = file.bigEndian32(at: offset) else { return nil }
        name = offset + 4
        self.length = length
    }

    func isIntact(in file: Span<UInt8>) -> Bool {
        var checksum = CRC32()
        checksum.update(file.extracting(name..<data.upperBound))
        return file.bigEndian32(at: data.upperBound) == Int(checksum.value)
    }
}

/// What the chunks so far have said.
private struct APNGWalk {
    var header: ImageHeader
    let limits: DecodeLimits
    var loopCount = 0
    var frames: [StoredFrame] = []
    var preamble: [UInt8] = []
    private var declaredFrames = 0
    /// The frame whose data are coming.
    private var open: StoredFrame?
    private var sequence = 0
    private var hasPixels = false
    private var hasPalette = false
    private var hasTransparency = false

    init(header: ImageHeader, limits: DecodeLimits) {
        self.header = header
        self.limits = limits
    }

    /// Takes the next chunk; whether it is the last.
    mutating func pass(_ chunk: PNGChunk, of file: Span<UInt8>) throws(CodecError) -> Bool {
        let data = file.extracting(chunk.data)
        if file.has("IDAT", at: chunk.name) {
            hasPixels = true
            // Without a frame control before it, the image is for viewers that know no animations.
            if frames.isEmpty { open?.data.add(chunk) }
        } else if file.has("fdAT", at: chunk.name) {
            try take(sequenceOf: data)
            guard hasPixels, open != nil else { throw .corrupt(.png, "frame data without a frame") }
            open?.data.add(chunk)
        } else if file.has("fcTL", at: chunk.name) {
            try close()
            try take(sequenceOf: data)
            guard chunk.isIntact(in: file) else { throw .corrupt(.png, "a frame control with a wrong checksum") }
            try beginFrame(data)
        } else if file.has("acTL", at: chunk.name), !hasPixels {
            guard chunk.isIntact(in: file), let count = data.bigEndian32(at: 0), let plays = data.bigEndian32(at: 4)
            else { throw .corrupt(.png, "an animation control that cannot be read") }
            (declaredFrames, loopCount) = (count, plays)
        } else if file.has("PLTE", at: chunk.name), !hasPalette {
            hasPalette = true
            preamble.append(file.extracting(chunk.name - 4..<chunk.end))
        } else if file.has("tRNS", at: chunk.name), !hasTransparency {
            hasTransparency = true
            preamble.append(file.extracting(chunk.name - 4..<chunk.end))
        } else if file.has("eXIf", at: chunk.name) {
            header.orientation = ImageOrientation(exif: data)
        } else if file.has("IEND", at: chunk.name) {
            try close()
            guard frames.count >= declaredFrames, !frames.isEmpty else {
                throw .corrupt(.png, "\(frames.count) frames instead of \(declaredFrames)")
            }
            return true
        }
        return false
    }

    /// All frame controls and frame data are numbered in one sequence.
    private mutating func take(sequenceOf data: Span<UInt8>) throws(CodecError) {
        guard data.bigEndian32(at: 0) == sequence else { throw .corrupt(.png, "frames out of order") }
        sequence += 1
    }

    private mutating func beginFrame(_ data: Span<UInt8>) throws(CodecError) {
        guard data.count == 26, let width = data.bigEndian32(at: 4), let height = data.bigEndian32(at: 8),
            let left = data.bigEndian32(at: 12), let top = data.bigEndian32(at: 16),
            let numerator = data.bigEndian16(at: 20), let denominator = data.bigEndian16(at: 22),
            data[24] <= 2, data[25] <= 1
        else { throw .corrupt(.png, "a frame control that cannot be read") }
        guard width > 0, height > 0, left + width <= header.size.width, top + height <= header.size.height else {
            throw .corrupt(.png, "a frame that leaves the canvas")
        }
        var frame = StoredFrame(
            left: left, top: top, size: PixelSize(width: width, height: height),
            delay: .seconds(numerator) / (denominator == 0 ? 100 : denominator), data: 0..<0)
        frame.disposal = [.keep, .background, .previous][Int(data[24])]
        frame.blend = data[25] == 1 ? .over : .source
        if !hasPixels, !frame.covers(header.size) {
            throw .corrupt(.png, "a first frame of another size than the image")
        }
        open = frame
    }

    private mutating func close() throws(CodecError) {
        guard let frame = open else { return }
        open = nil
        guard !frame.data.isEmpty else { throw .corrupt(.png, "a frame without data") }
        // More than were announced are not shown.
        if frames.count < declaredFrames { try frames.add(frame, .png, limits) }
    }
}

extension Range<Int> {
    /// Extends an empty range, or one that ends before the chunk, to its end.
    fileprivate mutating func add(_ chunk: PNGChunk) {
        self = (isEmpty ? chunk.name - 4 : lowerBound)..<chunk.end
    }
}
