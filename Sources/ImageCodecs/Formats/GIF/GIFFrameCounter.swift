/// Counts the images of a GIF while it arrives.
struct GIFFrameCounter: FrameCounter {
    private var blocks = GIFBlocks()
    /// The bytes that have not been parsed.
    private var rest: [UInt8] = []
    private var hasEnded = false

    var count: Int? { hasEnded ? blocks.imageCount : nil }

    mutating func append(_ bytes: Span<UInt8>) {
        guard !hasEnded else { return }
        rest.append(bytes)
        let file = rest
        while !hasEnded, let block = blocks.next(in: file.span) {
            switch block {
            case .graphicControl, .loop, .otherExtension, .image: break
            case .trailer, .unknown: hasEnded = true
            }
        }
        let passed = blocks.forget(of: rest.count)
        rest.removeFirst(passed)
    }
}
