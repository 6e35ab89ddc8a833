/// Finds the frames of a GIF; each is complete with the end of its sub-blocks.
struct GIFAnimationParser: AnimationParser {
    static let defaultRepetitionCount = 1
    static let framesMayBeInterlaced = true

    var index: AnimationIndex
    private var blocks = GIFBlocks()
    private var control = GIFBlocks.GraphicControl()
    /// The image whose data is being received.
    private var open: StoredFrame?
    private(set) var hasEnded = false

    init(_ index: AnimationIndex, beginning: Span<UInt8>) {
        self.index = index
        self.index.preamble = Array(copying: beginning.extracting(first: GIFBlocks.screenLength(of: beginning)))
    }

    mutating func consume(_ bytes: Span<UInt8>) throws(CodecError) {
        while !hasEnded {
            if var frame = open {
                guard let image = blocks.passImage(in: bytes) else { return }
                frame.data = Array(copying: bytes.extracting(image))
                open = nil
                try index.add(frame)
            }
            switch blocks.next(in: bytes) {
            case nil: return
            case .graphicControl(let next): control = next
            case .loop(let repetitions): index.repetitionCount = repetitions == 0 ? 0 : repetitions + 1
            case .otherExtension: break
            case .image(let image):
                open = StoredFrame(image, control, hasPalette: image.hasPalette || index.preamble.count > 13)
                control = GIFBlocks.GraphicControl()
            case .trailer: hasEnded = true
            case .unknown:
                hasEnded = true
                index.header.warnings.insert(.extraBytes)
            }
        }
    }

    mutating func forget(of count: Int) -> Int { blocks.forget(of: count, keepingBlock: open != nil) }

    mutating func finish(at count: Int) throws(CodecError) {
        // Many encoders omit the last byte, the trailer. The only image is decoded as a still image.
        guard hasEnded || blocks.isBetweenBlocks(at: count) || open != nil && index.frames.isEmpty else {
            throw .truncated(.gif)
        }
        if !hasEnded { index.header.warnings.insert(.missingEnd) }
    }
}

extension StoredFrame {
    fileprivate init(_ image: GIFBlocks.Frame, _ control: GIFBlocks.GraphicControl, hasPalette: Bool) {
        left = image.left
        top = image.top
        size = image.size
        delay = .milliseconds(10 * control.delay)
        switch control.disposal {
        case 2: disposal = .background
        case 3, 4: disposal = .previous  // some encoders use 4 instead of 3
        default: disposal = .keep
        }
        // Without a palette, nothing is shown.
        blend = control.transparentIndex == nil && hasPalette ? .source : .over
        transparentIndex = control.transparentIndex
        data = []
    }
}
