import Hashing

/// Cuts a PNG into chunks while its bytes arrive, and compares their checksums.
struct PNGChunkReader {
    /// A part of the file.
    enum Piece {
        /// A chunk begins: its name and the length of its data.
        case chunk(name: [UInt8], length: Int)
        /// A part of its data.
        case data(Range<Int>)
        /// Its checksum, which is right.
        case end
        /// Less than any of these.
        case incomplete
    }

    private enum Part {
        case signature, head, data, checksum
    }

    private var part = Part.signature
    /// Bytes still to come of the part.
    private var left = 8
    /// What has come of a head or checksum.
    private var kept: [UInt8] = []
    private var checksum = CRC32()

    /// Reads the next piece of `bytes` from `offset` on, which must be inside, and moves behind the piece.
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
            guard kept.span.bigEndian32(at: 0) == Int(checksum.value) else {
                throw .corrupt(.png, "a chunk with a wrong checksum")
            }
            begin(.head, 8)
            return .end
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
        guard name.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }) else {
            throw .corrupt(.png, "a chunk without a proper name")
        }
        checksum = CRC32()
        checksum.update(name.span)
        length == 0 ? begin(.checksum, 4) : begin(.data, length)
        return .chunk(name: name, length: length)
    }
}
