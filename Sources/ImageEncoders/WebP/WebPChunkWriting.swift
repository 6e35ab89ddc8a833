import ImageCodecs

extension [UInt8] {
    /// Appends a number of `count` bytes, the lowest first.
    mutating func append(littleEndian value: Int, count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    /// Appends a chunk of a WebP file: `head` followed by `data`, and padding to an even number of bytes.
    mutating func append(webPChunk name: StaticString, _ head: [UInt8], _ data: Span<UInt8> = Span()) {
        let length = head.count + data.count
        append(contentsOf: name.withUTF8Buffer { unsafe Array($0) })
        append(littleEndian: length, count: 4)
        append(contentsOf: head)
        append(data)
        if !length.isMultiple(of: 2) { append(0) }
    }
}
