import Hashing

extension [UInt8] {
    /// The signature of PNG files.
    package static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Appends a number of four bytes.
    package mutating func append(bigEndian32 value: Int) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    /// Appends a number of two bytes.
    package mutating func append(bigEndian16 value: Int) {
        for shift in [8, 0] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    /// Appends a chunk of `head` followed by `data`.
    package mutating func append(pngChunk name: StaticString, _ head: [UInt8] = [], _ data: Span<UInt8> = Span()) {
        let nameAndHead = name.withUTF8Buffer { unsafe Array($0) } + head
        append(bigEndian32: head.count + data.count)
        append(contentsOf: nameAndHead)
        append(data)
        var checksum = CRC32()
        checksum.update(nameAndHead.span)
        checksum.update(data)
        append(bigEndian32: Int(checksum.value))
    }
}
