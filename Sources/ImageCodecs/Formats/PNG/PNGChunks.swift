import Hashing

/// An incremental parser that splits a PNG into chunks and selects those for the codec.
///
/// Text, profiles, times, animation frames, and everything after the pixels never reach libpng, which would hold each of
/// them in memory entirely. The checksums of these chunks are compared here.
struct PNGChunks {
    /// A part of the file.
    enum Piece {
        /// A part for the codec, and whether it is compressed image data.
        case image(Range<Int>, isCompressed: Bool)
        /// The first bytes of a chunk, for the codec.
        case head([UInt8])
        /// A part of an `eXIf` chunk's data, and whether it follows the pixels.
        case exif(Range<Int>, isLate: Bool)
        /// The first bytes of the chunk after the pixels.
        case imageEnd
        /// A part that is skipped.
        case skipped
    }

    private enum Content {
        case signature, idat, otherImage, exif, skipped, end, garbage
    }

    /// The maximum length in bytes of a chunk for the codec, except `IDAT`; the longest valid one, the palette, has at
    /// most 768 bytes.
    private static let maximumLength = 64 << 10

    private var content = Content.signature
    /// The number of bytes left of the chunk's data.
    private(set) var dataLeft = 8
    private var checksumLeft = 0
    /// The received part of the next chunk's length and name.
    private var head: [UInt8] = []
    private var hasData = false
    private var dataHaveEnded = false
    private var checksum = CRC32()
    private var storedChecksum: UInt32 = 0
    /// The deviations found in the chunks that the codec does not read.
    private(set) var warnings: Set<ImageWarning> = []
    /// A Boolean value that indicates whether the end chunk has been received.
    private(set) var hasEnded = false

    /// Returns the next piece of `bytes` from `offset`, which must be in range, and advances `offset` past the piece.
    mutating func next(in bytes: Span<UInt8>, from offset: inout Int) throws(CodecError) -> Piece {
        if content == .garbage {
            offset = bytes.count
            return .skipped
        }
        if dataLeft > 0 {
            let range = offset..<offset + min(dataLeft, bytes.count - offset)
            dataLeft -= range.count
            offset = range.upperBound
            return switch content {
            case .idat: .image(range, isCompressed: true)
            case .signature, .otherImage: .image(range, isCompressed: false)
            case .exif: .exif(range, isLate: hasData)
            case .skipped, .end, .garbage: skip(bytes.extracting(range))
            }
        }
        if checksumLeft > 0 {
            let range = offset..<offset + min(checksumLeft, bytes.count - offset)
            checksumLeft -= range.count
            offset = range.upperBound
            if content == .idat || content == .otherImage { return .image(range, isCompressed: false) }
            for index in range { storedChecksum = storedChecksum << 8 | UInt32(bytes[index]) }
            if checksumLeft == 0 { endChunk() }
            return .skipped
        }
        head.append(bytes[offset])
        offset += 1
        return head.count == 8 ? try beginChunk() : .skipped
    }

    private mutating func beginChunk() throws(CodecError) -> Piece {
        let head = self.head
        self.head = []
        let name = head.span.extracting(4...)
        let isFirstAfterData = hasData && !dataHaveEnded
        guard let length = head.span.bigEndian32(at: 0), length <= 0x7FFF_FFFF, name.areLetters else {
            if hasData {
                // What follows is no chunk.
                dataHaveEnded = true
                content = .garbage
                warnings.insert(.extraBytes)
                return isFirstAfterData ? .imageEnd : .skipped
            }
            throw .corrupt(.png, "a chunk is longer than the format allows")
        }
        dataLeft = length
        checksumLeft = 4
        checksum = CRC32()
        checksum.update(name)
        if name.has("IDAT", at: 0) {
            guard !dataHaveEnded else {
                warnings.insert(.extraBytes)
                content = .skipped
                return .skipped
            }
            hasData = true
            content = .idat
            return .head(head)
        }
        dataHaveEnded = hasData
        if name.has("IEND", at: 0), hasData {
            if length > 0 { warnings.insert(.extraBytes) }
            content = .end
        } else if name.has("eXIf", at: 0) {
            content = .exif
        } else if dataHaveEnded {
            // A palette after the pixels is ignored, as by libpng.
            guard name[0] & 0x20 != 0 || name.has("PLTE", at: 0) else {
                throw .corrupt(.png, "an unknown critical chunk")
            }
            content = .skipped
        } else if name[0] & 0x20 == 0 || name.has("tRNS", at: 0) {  // a capital letter: a critical chunk
            guard length <= Self.maximumLength else { throw .corrupt(.png, "a chunk of \(length) bytes") }
            content = .otherImage
            return .head(head)
        } else {
            content = .skipped
        }
        return isFirstAfterData ? .imageEnd : .skipped
    }

    private mutating func skip(_ data: Span<UInt8>) -> Piece {
        checksum.update(data)
        return .skipped
    }

    /// Ends a chunk that the codec does not read.
    private mutating func endChunk() {
        // An orientation with a wrong checksum is applied all the same.
        if content != .exif, checksum.value != storedChecksum { warnings.insert(.wrongChecksum) }
        storedChecksum = 0
        hasEnded = content == .end
    }
}
