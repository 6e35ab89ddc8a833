/// Cuts a PNG into chunks while its bytes arrive, and says which of them the codec has to see.
///
/// Text, profiles, times and animation frames never reach libpng, which would hold each in memory as a whole.
struct PNGChunks {
    /// A part of the file.
    enum Piece {
        /// For the codec; whether it is compressed image data.
        case image(Range<Int>, isCompressed: Bool)
        /// The first bytes of a chunk, for the codec.
        case head([UInt8])
        /// A part of an `eXIf` chunk's data; whether it stands behind the pixels.
        case exif(Range<Int>, isLate: Bool)
        /// Of no interest.
        case skipped
    }

    private enum Content {
        case signature, idat, otherImage, exif, skipped
    }

    /// No chunk for the codec but `IDAT` can be longer: the palette has 768 bytes.
    private static let maximumLength = 64 << 10

    private var content = Content.signature
    /// Bytes still to come of the chunk's data, and of its checksum.
    private var dataLeft = 8
    private var checksumLeft = 0
    /// Length and name of the next chunk, as far as they have come.
    private var head: [UInt8] = []
    private var hasData = false
    private var dataHaveEnded = false

    /// The next piece of `bytes` from `offset` on, which must be inside and moves behind the piece.
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
            guard !dataHaveEnded else { throw .corrupt(.png, "the image data are not in one piece") }
            hasData = true
            content = .idat
            return .head(head)
        }
        dataHaveEnded = hasData
        if name.has("eXIf", at: 0) {
            content = .exif
        } else if name[0] & 0x20 == 0 || name.has("tRNS", at: 0) {  // a capital: it must be understood
            guard length <= Self.maximumLength else { throw .corrupt(.png, "a chunk of \(length) bytes") }
            content = .otherImage
            return .head(head)
        } else {
            content = .skipped
        }
        return .skipped
    }
}
