import Hashing

/// An incremental parser that splits a PNG into chunks and compares their checksums.
struct PNGChunkReader {
    /// A part of the file.
    enum Piece {
        /// The start of a chunk: its name and the length of its data.
        case chunk(name: [UInt8], length: Int)
        /// A part of the chunk's data.
        case data(Range<Int>)
        /// The end of a chunk, and whether its checksum is correct.
        case end(isIntact: Bool)
        /// Too few bytes for any of these.
        case incomplete
    }

    private enum Part {
        case signature, head, data, checksum
    }

    private var part = Part.signature
    /// The number of bytes left of the current part.
    private var left = 8
    /// The received part of a chunk header or checksum.
    private var kept: [UInt8] = []
    private var checksum = CRC32()

    /// Reads the next piece of `bytes` from `offset`, which must be in range, and advances `offset` past the piece.
    mutating func next(in bytes: Span<UInt8>, from offset: inout Int) throws(CodecError) -> Piece {
        let range = offset..<offset + min(left, bytes.count - offset)
        let piece = bytes.extracting(range)
        offset = range.upperBound
        left -= range.count
        switch part {
        case .signature:
            if left == 0 { begin(.head, 8) }
            return .incomplete
        case .data:
            checksum.update(piece)
            if left == 0 { begin(.checksum, 4) }
            return .data(range)
        case .head:
            kept.append(piece)
            return left == 0 ? try beginChunk() : .incomplete
        case .checksum:
            kept.append(piece)
            guard left == 0 else { return .incomplete }
            let isIntact = kept.span.bigEndian32(at: 0) == Int(checksum.value)
            begin(.head, 8)
            return .end(isIntact: isIntact)
        }
    }

    private mutating func begin(_ part: Part, _ length: Int) {
        self.part = part
        left = length
        kept = []
    }

    private mutating func beginChunk() throws(CodecError) -> Piece {
        let head = kept
        let name = Array(head[4...])
        guard let length = head.span.bigEndian32(at: 0), length <= 0x7FFF_FFFF else {
            throw .corrupt(.png, "a chunk is longer than the format allows")
        }
        guard name.span.areLetters else {
            throw .corrupt(.png, "a chunk with an invalid name")
        }
        checksum = CRC32()
        checksum.update(name.span)
        length == 0 ? begin(.checksum, 4) : begin(.data, length)
        return .chunk(name: name, length: length)
    }
}
