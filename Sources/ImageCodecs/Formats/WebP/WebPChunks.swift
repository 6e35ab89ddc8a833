/// An incremental parser of the chunks of a WebP that selects those of the first image.
///
/// Everything else is skipped without being kept, so the file can be long and its metadata and later frames large.
struct WebPChunks {
    /// A part of the file.
    enum Piece {
        /// The first bytes of an `ALPH`, `VP8 ` or `VP8L` chunk of the first image.
        case imageHead([UInt8])
        /// The bytes that follow.
        case image(Range<Int>)
        /// The position of the first frame of an animation.
        case frame(left: Int, top: Int, size: PixelSize)
        /// A part of an `EXIF` chunk's data.
        case exif(Range<Int>)
        /// A part that is skipped.
        case skipped
    }

    private enum Content {
        case riff, chunkHead, frameHead, image, exif, skipped
    }

    private let isAnimated: Bool

    /// Creates a parser of an animation or of a still image, in which frames are skipped like unknown chunks.
    init(isAnimated: Bool) {
        self.isAnimated = isAnimated
    }

    /// The number of images begun: at most one in a still image, one per frame in an animation.
    private(set) var frameCount = 0
    /// A Boolean value that indicates whether the first image is complete.
    private(set) var hasImage = false
    /// The number of bytes left of the file according to its header.
    private var fileLeft = 12
    private var content = Content.riff
    private var contentLeft = 12
    /// The received bytes of a part that is parsed as a whole.
    private var head: [UInt8] = []
    private var isImageData = false

    /// A Boolean value that indicates whether the whole file has been received.
    var isComplete: Bool { fileLeft == 0 }

    /// Returns the next piece of `bytes` from `offset`, which must be in range, and advances `offset` past the piece.
    mutating func next(in bytes: Span<UInt8>, from offset: inout Int) throws(CodecError) -> Piece {
        let length = min(contentLeft, fileLeft, bytes.count - offset)
        let range = offset..<offset + length
        offset += length
        contentLeft -= length
        fileLeft -= length
        switch content {
        case .image:
            if contentLeft == 0 { endChunk() }
            return .image(range)
        case .exif:
            if contentLeft == 0 { endChunk() }
            return .exif(range)
        case .skipped:
            if contentLeft == 0 { endChunk() }
            return .skipped
        case .riff, .chunkHead, .frameHead:
            head.append(bytes.extracting(range))
            guard contentLeft == 0 else { return .skipped }
            let head = self.head
            self.head = []
            return try begin(head)
        }
    }

    private mutating func begin(_ head: [UInt8]) throws(CodecError) -> Piece {
        switch content {
        case .riff:
            guard let size = head.span.littleEndian32(at: 4), size >= 12 else {
                throw .corrupt(.webp, "no RIFF size")
            }
            fileLeft = size - 4
            endChunk()
            return .skipped
        case .frameHead:
            endChunk()  // the chunks inside the frame follow
            let bytes = head.span
            guard let left = bytes.littleEndian24(at: 0), let top = bytes.littleEndian24(at: 3),
                let width = bytes.littleEndian24(at: 6), let height = bytes.littleEndian24(at: 9)
            else { return .skipped }
            return .frame(left: left * 2, top: top * 2, size: PixelSize(width: width + 1, height: height + 1))
        default: return try beginChunk(head)
        }
    }

    private mutating func beginChunk(_ head: [UInt8]) throws(CodecError) -> Piece {
        guard let length = head.span.littleEndian32(at: 4) else { return .skipped }
        let name = head.span
        isImageData = name.has("VP8 ", at: 0) || name.has("VP8L", at: 0)
        // The last chunk can lack the padding byte.
        contentLeft = min(length + length & 1, fileLeft)
        content = .skipped
        if name.has("ANMF", at: 0), isAnimated {
            guard frameCount == 0 || hasImage else { throw .corrupt(.webp, "a frame without an image") }
            frameCount += 1
            if frameCount == 1 {
                guard length >= 16 else { throw .corrupt(.webp, "a frame of \(length) bytes") }
                contentLeft = 16
                content = .frameHead
            }
        } else if isImageData || name.has("ALPH", at: 0), !hasImage {
            guard length <= fileLeft else { throw .corrupt(.webp, "the image is longer than the file") }
            content = .image
        } else if name.has("EXIF", at: 0) {
            content = .exif
        }
        let isImage = content == .image
        if contentLeft == 0 { endChunk() }
        return isImage ? .imageHead(head) : .skipped
    }

    private mutating func endChunk() {
        if content == .image, isImageData { hasImage = true }
        content = .chunkHead
        contentLeft = 8
    }
}
