extension AnimationIndex {
    init(gif file: Span<UInt8>, header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        var blocks = GIFBlocks()
        var frames: [StoredFrame] = []
        var loopCount = 1
        var control = GIFBlocks.GraphicControl()
        /// The image whose data the walk is about to pass.
        var open: StoredFrame?
        var hasEnded = false
        while !hasEnded, let block = blocks.next(in: file) {
            if var frame = open {
                frame.data = frame.data.lowerBound..<blocks.blockStart
                try frames.add(frame, .gif, limits)
                open = nil
            }
            switch block {
            case .graphicControl(let next): control = next
            case .loop(let repetitions): loopCount = repetitions == 0 ? 0 : repetitions + 1
            case .otherExtension: break
            case .image(let image):
                open = StoredFrame(image, control, at: blocks.blockStart)
                control = GIFBlocks.GraphicControl()
            case .trailer, .unknown: hasEnded = true
            }
        }
        if !hasEnded {
            // Many writers leave the last byte, the trailer, out.
            guard blocks.isBetweenBlocks(at: file.count) else { throw .truncated(.gif) }
            if var frame = open {
                frame.data = frame.data.lowerBound..<file.count
                try frames.add(frame, .gif, limits)
            }
        }
        self.init(
            header: header, loopCount: loopCount, frames: frames,
            preamble: Array(copying: file.extracting(first: GIFBlocks.screenLength(of: file))))
    }

    /// The screen, cut down to the frame, its palette, the transparent index, and the image moved to the corner.
    func gifStill(_ frame: StoredFrame, of file: Span<UInt8>) -> [UInt8] {
        var still = preamble
        func put(_ value: Int, at offset: Int) {
            still[offset] = UInt8(truncatingIfNeeded: value)
            still[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
        }
        put(frame.size.width, at: 6)
        put(frame.size.height, at: 8)
        if let index = frame.transparentIndex { still += [0x21, 0xF9, 4, 1, 0, 0, index, 0] }
        let descriptor = still.count
        still.append(file.extracting(frame.data))
        put(0, at: descriptor + 1)
        put(0, at: descriptor + 3)
        still.append(0x3B)
        return still
    }
}

extension StoredFrame {
    fileprivate init(_ image: GIFBlocks.Frame, _ control: GIFBlocks.GraphicControl, at start: Int) {
        left = image.left
        top = image.top
        size = image.size
        delay = .milliseconds(10 * control.delay)
        switch control.disposal {
        case 2: disposal = .background
        case 3, 4: disposal = .previous  // some writers mean 3 by 4
        default: disposal = .keep
        }
        blend = control.transparentIndex == nil ? .source : .over
        transparentIndex = control.transparentIndex
        data = start..<start
    }
}
