/// An incremental parser that splits a PNG into chunks and selects those for the codec.
///
/// Text, profiles, times, and animation frames never reach libpng, which would hold each of them in memory entirely.
struct PNGChunks {
    /// A part of the file.
    enum Piece {
        /// A part for the codec, and whether it is compressed image data.
        case image(Range<Int>, isCompressed: Bool)
        /// The first bytes of a chunk, for the codec.
        case head([UInt8])
        /// A part of an `eXIf` chunk's data, and whether it follows the pixels.
        case exif(Range<Int>, isLate: Bool)
        /// A part that is skipped.
        case skipped
    }

    private enum Content {
        case signature, idat, otherImage, exif, skipped
    }

    /// The maximum length in bytes of a chunk for the codec, except `IDAT`; the longest valid one, the palette, has at
    /// most 768 bytes.
    private static let maximumLength = 64 << 10

    private var content = Content.signature
    /// The number of bytes left of the chunk's data and checksum.
    private var dataLeft = 8
    private var checksumLeft = 0
    /// The received part of the next chunk's length and name.
    private var head: [UInt8] = []
    private var hasData = false
    private var dataHaveEnded = false

    /// Returns the next piece of `bytes` from `offset`, which must be in range, and advances `offset` past the piece.
    mutating func next(in bytes: Span<UInt8>, from offset: inout Int) throws(CodecError) -> Piece {
        if dataLeft > 0 {
            let range = offset..<offset + min(dataLeft, bytes.count - offset)
            dataLeft -= range.count
            offset = range.upperBound
            return switch content {
            case .idat: .image(range, isCompressed: true)
            case .signature, .otherImage: .image(range, isCompressed: false)
            case .exif: .exif(range, isLate: hasData)
            case .skipped: .skipped
            }
        }
        if checksumLeft > 0 {
            let range = offset..<offset + min(checksumLeft, bytes.count - offset)
            checksumLeft -= range.count
            offset = range.upperBound
            return content == .idat || content == .otherImage ? .image(range, isCompressed: false) : .skipped
        }
        head.append(bytes[offset])
        offset += 1
        return head.count == 8 ? try beginChunk() : .skipped
    }

    private mutating func beginChunk() throws(CodecError) -> Piece {
        let head = self.head
        self.head = []
        let name = head.span.extracting(4...)
        guard let length = head.span.bigEndian32(at: 0), length <= 0x7FFF_FFFF else {
            throw .corrupt(.png, "a chunk is longer than the format allows")
        }
        dataLeft = length
        checksumLeft = 4
        if name.has("IDAT", at: 0) {
            guard !dataHaveEnded else { throw .corrupt(.png, "the image data is not contiguous") }
            hasData = true
            content = .idat
            return .head(head)
        }
        dataHaveEnded = hasData
        if name.has("eXIf", at: 0) {
            content = .exif
        } else if name[0] & 0x20 == 0 || name.has("tRNS", at: 0) {  // a capital letter: a critical chunk
            guard length <= Self.maximumLength else { throw .corrupt(.png, "a chunk of \(length) bytes") }
            content = .otherImage
            return .head(head)
        } else {
            content = .skipped
        }
        return .skipped
    }
}
