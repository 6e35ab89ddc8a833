/// Finds the Exif data of a JPEG, PNG, or WebP file that arrives in pieces, before or after its pixels.
///
/// Skips everything else without holding it. Finds the same data as ``ImageMetadata/init(file:)``, unless they are
/// longer than ``maximumBytes``, or follow the end of a PNG.
package struct ExifScanner: Sendable {
    /// The maximum number of bytes of Exif data that are kept; what follows counts as missing.
    package static let maximumBytes = 128 << 10
    /// The length of the longest signature.
    private static let signatureLength = 12
    /// The length of the head of a chunk of PNG or WebP.
    private static let chunkHeadLength = 8

    /// The Exif data, starting with the TIFF header; `nil` if none have been found.
    package private(set) var exif: [UInt8]?

    private enum State {
        /// Collects the signature of the file, or the head of a segment or chunk.
        case head
        /// Collects the data of a segment or chunk, of which this many bytes follow, and then skips others.
        case data(Int, thenSkips: Int)
        case skipping(Int)
        case finished
    }

    private var state = State.head
    /// The format; `nil` before the signature is complete.
    private var format: ImageFormat?
    private var collected: [UInt8] = []

    package init() {}

    /// Continues the search in the next piece of the file.
    package mutating func append(_ piece: Span<UInt8>) {
        var offset = 0
        while offset < piece.count {
            switch state {
            case .head:
                if isBetweenChunks, piece.count - offset >= Self.chunkHeadLength {
                    // Not copied: an image can have millions of them.
                    let head = piece.extracting(offset..<offset + Self.chunkHeadLength)
                    offset += head.count
                    readChunkHead(head)
                } else {
                    collected.append(piece[offset])
                    offset += 1
                    readCollected()
                }
            case .data(let length, let skipped):
                let part = piece.extracting(offset..<offset + min(length, piece.count - offset))
                collected.append(part.extracting(first: min(part.count, Self.maximumBytes - collected.count)))
                offset += part.count
                state = .data(length - part.count, thenSkips: skipped)
                if part.count == length { readData(thenSkips: skipped) }
            case .skipping(let length):
                let count = min(length, piece.count - offset)
                offset += count
                state = count < length ? .skipping(length - count) : .head
            case .finished: return
            }
        }
    }

    private mutating func readSignature() {
        format = ImageFormat(signature: collected.span)
        switch format {
        // The third byte begins the first segment.
        case .jpeg: collected.removeFirst(2)
        case .png, .webp: collected.removeAll(keepingCapacity: true)
        case nil where collected.count < Self.signatureLength: break
        default: state = .finished
        }
    }

    private var isBetweenChunks: Bool { (format == .png || format == .webp) && collected.isEmpty }

    private mutating func readCollected() {
        switch format {
        case nil: readSignature()
        case .jpeg: readSegmentHead()
        default:
            guard collected.count == Self.chunkHeadLength else { return }
            let head = collected
            readChunkHead(head.span)
        }
    }

    private mutating func readChunkHead(_ head: Span<UInt8>) {
        if format == .png {
            guard !head.has("IEND", at: 4) else { return state = .finished }
            // The checksum follows.
            readChunk(head.bigEndian32(at: 0) ?? 0, holdsExif: head.has("eXIf", at: 4), thenSkips: 4)
        } else {
            let length = head.littleEndian32(at: 4) ?? 0
            readChunk(length, holdsExif: head.has("EXIF", at: 0), thenSkips: length & 1)
        }
    }

    private mutating func readSegmentHead() {
        guard collected[0] == 0xFF else { return state = .finished }
        guard let marker = collected.span.byte(at: 1) else { return }
        // A fill byte.
        guard marker != 0xFF else {
            collected.removeLast()
            return
        }
        // The pixels follow, or nothing.
        guard marker != 0xDA, marker != 0xD9 else { return state = .finished }
        guard let length = collected.span.bigEndian16(at: 2) else { return }
        guard length >= 2 else { return state = .finished }
        readChunk(length - 2, holdsExif: marker == 0xE1, thenSkips: 0)
    }

    private mutating func readChunk(_ length: Int, holdsExif: Bool, thenSkips skipped: Int) {
        collected.removeAll(keepingCapacity: true)
        if holdsExif, length > 0 {
            state = .data(length, thenSkips: skipped)
        } else {
            skip(length + skipped)
        }
    }

    private mutating func readData(thenSkips skipped: Int) {
        // The same segment of JPEG holds other data as well.
        if format != .jpeg || collected.span.has("Exif\0\0", at: 0) { exif = ImageMetadata.tiff(collected.span) }
        collected = []
        if exif == nil { skip(skipped) } else { state = .finished }
    }

    private mutating func skip(_ count: Int) { state = count > 0 ? .skipping(count) : .head }
}
