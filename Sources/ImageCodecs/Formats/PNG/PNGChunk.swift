import Hashing

extension Span<UInt8> {
    /// A Boolean value that indicates whether all bytes are letters, like those of the name of a chunk.
    var areLetters: Bool { indices.allSatisfy { (0x41...0x5A).contains(self[$0] & 0xDF) } }
}

/// The position of a chunk in its file.
struct PNGChunk {
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
