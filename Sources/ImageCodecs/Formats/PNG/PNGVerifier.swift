/// Verifies a PNG or APNG: the checksum of every chunk, the pixels of the image and every frame, the order of the
/// chunks they depend on, and the end chunk.
///
/// A wrong checksum is a warning if the picture certainly does not depend on the chunk, like everything that is wrong after
/// the last pixel.
/// The pixels are decompressed and discarded; an interlaced image needs no more memory than any other.
final class PNGVerifier: BuiltInVerifier {
    private static let maximumExifBytes = 64 << 10
    private static let controlBytes = 26

    /// A chunk that is checked.
    private enum Chunk {
        case header, palette, image, end, frame, frameData, exif, description, other

        /// Chunks without which the picture is the same (PNG, third edition, 11.3, and its registered extensions).
        ///
        /// An unknown name can be a damaged one.
        private static let descriptions: [StaticString] = [
            "tEXt", "zTXt", "iTXt", "tIME", "pHYs", "bKGD", "hIST", "sPLT", "sBIT", "oFFs", "pCAL", "sCAL", "sTER",
        ]

        /// A Boolean value that indicates whether the picture is the same without the chunk.
        var isDispensable: Bool { self == .description || self == .end }

        init(_ nameBytes: [UInt8]) {
            let name = nameBytes.span
            self =
                if name.has("IDAT", at: 0) {
                    .image
                } else if name.has("IHDR", at: 0) {
                    .header
                } else if name.has("PLTE", at: 0) {
                    .palette
                } else if name.has("IEND", at: 0) {
                    .end
                } else if name.has("fcTL", at: 0) {
                    .frame
                } else if name.has("fdAT", at: 0) {
                    .frameData
                } else if name.has("eXIf", at: 0) {
                    .exif
                } else if Self.descriptions.contains(where: { name.has($0, at: 0) }) {
                    .description
                } else {
                    .other
                }
        }
    }

    private let header: ImageHeader
    private var reader = PNGChunkReader()
    private var chunk = Chunk.other
    /// The received data of a chunk that is checked as a whole.
    private var kept: [UInt8] = []
    /// The number of bytes of the chunk's data to keep.
    private var keptLength = 0
    private var bitsPerPixel = 0
    private var needsPalette = false
    private var hasPalette = false
    private var hasHeader = false
    private var hasEnded = false
    /// A Boolean value that indicates whether the file has been received up to a chunk's end.
    private var isBetweenChunks = false
    /// A Boolean value that indicates whether the bytes that follow are no chunks.
    private var isLost = false
    private var warnings: Set<ImageWarning> = []

    /// The image or frame whose data is being received.
    private var pixels: PNGPixelCheck?
    private var hasImage = false
    private var imageHasEnded = false

    private var frames: FrameBudget
    /// The declared number of frames; `nil` if the file is not an animation, even if it has chunks of one.
    private let declaredFrames: Int?
    private var sequence = 0
    /// The size of the current frame while it has no data.
    private var nextFrame: PixelSize?
    private var exif: [UInt8] = []

    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        PNGPixelCheck.workingBytes + maximumExifBytes * 2
    }

    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        self.header = header
        declaredFrames = header.mayBeAnimated ? header.frameCount : nil
        frames = FrameBudget(of: header, limits: limits)
    }

    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        var offset = 0
        while offset < bytes.count, !hasEnded, !isLost {
            switch try nextPiece(in: bytes, from: &offset) {
            case .chunk(let name, let length): try begin(Chunk(name), name, length)
            case .data(let range): try take(bytes.extracting(range))
            case .end(let isIntact): try endChunk(isIntact: isIntact)
            case .incomplete: break
            }
        }
    }

    /// Reads the next piece; bytes after all pixels that are no chunk are a warning.
    private func nextPiece(
        in bytes: Span<UInt8>, from offset: inout Int
    ) throws(CodecError) -> PNGChunkReader.Piece {
        do throws(CodecError) {
            return try reader.next(in: bytes, from: &offset)
        } catch {
            guard isComplete else { throw error }
            warnings.insert(.extraBytes)
            isLost = true
            try finishPixels()
            return .incomplete
        }
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        if !hasEnded {
            // The frames of an animation are parsed chunk by chunk.
            let isWhole = declaredFrames == nil || isBetweenChunks || chunk != .image && chunk != .frameData
            // Pixels with two checksums, one cut off and one wrong, are doubtful.
            let isDoubtful = !isBetweenChunks && pixels?.warnings.contains(.wrongChecksum) == true
            guard isComplete, isWhole, !isDoubtful else { throw .truncated(.png) }
            warnings.insert(.missingEnd)
        }
        header.warnings = warnings.union(pixels?.warnings ?? [])
        guard !exif.isEmpty, header.allowsLateOrientation else { return }
        let bytes = exif
        header.orientation = ImageOrientation(exif: bytes.span)
    }

    /// Returns `true` if `file`, a complete file, is valid; otherwise throws the reason.
    func accepts(_ file: Span<UInt8>) throws(CodecError) -> Bool {
        try append(file)
        var header = header
        try finish(&header)
        return true
    }

    /// A Boolean value that indicates whether all pixels of all frames have been received.
    private var isComplete: Bool {
        hasImage && nextFrame == nil && pixels?.isComplete ?? true && (declaredFrames ?? frames.count) == frames.count
    }

    // MARK: Chunks

    private func begin(_ next: Chunk, _ name: [UInt8], _ length: Int) throws(CodecError) {
        guard (next == .header) != hasHeader else { throw .corrupt(.png, "IHDR is not the first chunk") }
        if next != .image, hasImage, !imageHasEnded {
            imageHasEnded = true
            try finishPixels()
        }
        chunk = next
        isBetweenChunks = false
        kept = []
        keptLength = 0
        switch next {
        case .header:
            guard length == 13 else { throw .corrupt(.png, "IHDR of \(length) bytes") }
            keptLength = length
        case .palette:
            guard length % 3 == 0, (3...768).contains(length) else { throw .corrupt(.png, "PLTE of \(length) bytes") }
            guard !hasPalette else { throw .corrupt(.png, "a second palette") }
            hasPalette = true
        case .image: try beginImage()
        case .frame: keptLength = declaredFrames == nil ? 0 : Self.controlBytes
        case .frameData: keptLength = declaredFrames == nil ? 0 : 4
        case .exif: keptLength = hasImage ? min(length, Self.maximumExifBytes) : 0
        case .end: if length > 0 { warnings.insert(.extraBytes) }
        case .description: break
        case .other:
            // A capital letter marks a critical chunk.
            guard name[0] & 0x20 != 0 else { throw .corrupt(.png, "an unknown critical chunk") }
        }
        guard keptLength <= length else { throw .corrupt(.png, "a chunk of \(length) bytes") }
    }

    private func take(_ data: Span<UInt8>) throws(CodecError) {
        let missing = min(keptLength - kept.count, data.count)
        kept.append(data.extracting(first: missing))
        let rest = data.extracting(droppingFirst: missing)
        switch chunk {
        case .image: try pixels?.append(rest)
        case .frameData where declaredFrames != nil:
            if missing > 0, kept.count == keptLength { try beginFrameData() }
            try pixels?.append(rest)
        case .header, .palette, .end, .frame, .frameData, .exif, .description, .other: break
        }
    }

    /// Checks the checksum and the content of a chunk.
    private func endChunk(isIntact: Bool) throws(CodecError) {
        if !isIntact {
            guard chunk.isDispensable else { throw .corrupt(.png, "a chunk with a wrong checksum") }
            warnings.insert(.wrongChecksum)
        }
        isBetweenChunks = true
        pixels?.endChunk()
        switch chunk {
        case .header:
            hasHeader = true
            let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][kept[9]] ?? 4
            bitsPerPixel = Int(kept[8]) * channels
            needsPalette = kept[9] == 3
        case .frame where declaredFrames != nil: try beginFrame()
        case .exif where hasImage: exif = kept
        case .end: try end()
        case .palette, .image, .frame, .frameData, .exif, .description, .other: break
        }
    }

    private func end() throws(CodecError) {
        guard hasImage else { throw .corrupt(.png, "no image data") }
        try finishPixels()
        guard nextFrame == nil else { throw .corrupt(.png, "a frame without data") }
        if let declaredFrames, frames.count != declaredFrames {
            throw .corrupt(.png, "\(frames.count) frames instead of \(declaredFrames)")
        }
        hasEnded = true
    }

    // MARK: Pixels

    private func beginImage() throws(CodecError) {
        guard !imageHasEnded else {
            guard declaredFrames == nil else { throw .corrupt(.png, "the image data is not contiguous") }
            warnings.insert(.extraBytes)
            return
        }
        guard !hasImage else { return }
        guard hasPalette || !needsPalette else { throw .corrupt(.png, "no palette before the image data") }
        hasImage = true
        if let frame = nextFrame {
            guard frame == header.size else {
                throw .corrupt(.png, "a first frame of another size than the image")
            }
            nextFrame = nil
        }
        try beginPixels(header.size)
    }

    private func beginPixels(_ size: PixelSize) throws(CodecError) {
        pixels = try PNGPixelCheck(size: size, bitsPerPixel: bitsPerPixel, isInterlaced: header.isProgressive)
    }

    private func finishPixels() throws(CodecError) {
        try pixels?.finish()
        warnings.formUnion(pixels?.warnings ?? [])
        pixels = nil
    }

    /// Checks the sequence number that frame controls and frame data share.
    private func takeSequence() throws(CodecError) {
        guard kept.span.bigEndian32(at: 0) == sequence else { throw .corrupt(.png, "frames out of order") }
        sequence += 1
    }

    private func beginFrame() throws(CodecError) {
        try finishPixels()
        try takeSequence()
        guard nextFrame == nil else { throw .corrupt(.png, "a frame without data") }
        let bytes = kept
        let control = bytes.span
        guard let width = control.bigEndian32(at: 4), let height = control.bigEndian32(at: 8),
            let left = control.bigEndian32(at: 12), let top = control.bigEndian32(at: 16),
            control[24] <= 2, control[25] <= 1
        else { throw .corrupt(.png, "a frame control that cannot be read") }
        guard left + width <= header.size.width, top + height <= header.size.height else {
            throw .corrupt(.png, "a frame that leaves the canvas")
        }
        let size = PixelSize(width: width, height: height)
        guard size.area > 0 else { throw .zeroPixels(.png, size) }
        try frames.add(size)
        nextFrame = size
    }

    private func beginFrameData() throws(CodecError) {
        try takeSequence()
        guard hasImage else { throw .corrupt(.png, "frame data before the image") }
        if let frame = nextFrame {
            nextFrame = nil
            try beginPixels(frame)
        }
        guard pixels != nil else { throw .corrupt(.png, "frame data without a frame") }
    }
}
