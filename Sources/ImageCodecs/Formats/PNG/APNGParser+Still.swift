extension APNGParser {
    /// Returns a PNG file that contains one frame of the animation as a still image.
    static func still(_ frame: StoredFrame, of index: AnimationIndex) -> [UInt8] {
        var still = [UInt8].pngSignature
        var head: [UInt8] = []
        head.append(bigEndian32: frame.size.width)
        head.append(bigEndian32: frame.size.height)
        still.append(pngChunk: "IHDR", head, index.preamble.span.extracting(first: 5))
        still.append(index.preamble.span.extracting(droppingFirst: 5))
        let chunks = frame.data.span
        var offset = 0
        while let chunk = PNGChunk(at: offset, of: chunks) {
            if chunks.has("IDAT", at: chunk.name) {
                still.append(chunks.extracting(offset..<chunk.end))
            } else if chunks.has("fdAT", at: chunk.name) {
                // Skip the sequence number. A wrong checksum stays wrong, so that libpng detects it.
                still.append(pngChunk: "IDAT", [], chunks.extracting(chunk.data.lowerBound + 4..<chunk.data.upperBound))
                if !chunk.isIntact(in: chunks) { still[still.count - 1] ^= 1 }
            }
            offset = chunk.end
        }
        still.append(pngChunk: "IEND")
        return still
    }
}
