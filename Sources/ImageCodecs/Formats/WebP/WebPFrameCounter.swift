/// Counts the frames of an animated WebP while it arrives.
struct WebPFrameCounter: FrameCounter {
    private var frames = 0
    /// The bytes that have not been parsed, starting at `offset` in the file.
    private var rest: [UInt8] = []
    private var offset = 0
    /// The position of the next chunk in the file.
    private var nextChunk = 12
    /// The end of the file; `nil` until it is known.
    private var end: Int?
    private var received = 0

    var count: Int? { end.map { received >= $0 } == true ? frames : nil }

    mutating func append(_ bytes: Span<UInt8>) {
        received += bytes.count
        rest.append(bytes)
        if end == nil, let length = rest.span.littleEndian32(at: 4) { end = length + 8 }
        while let end, nextChunk < end, let length = rest.span.littleEndian32(at: nextChunk - offset + 4) {
            if rest.span.has("ANMF", at: nextChunk - offset) { frames += 1 }
            nextChunk += 8 + length + length & 1
        }
        let passed = min(max(nextChunk - offset, 0), rest.count)
        if end != nil {
            rest.removeFirst(passed)
            offset += passed
        }
    }
}
