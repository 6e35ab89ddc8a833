extension GIFAnimationParser {
    /// Returns a GIF of the screen cropped to the visible part of the frame, its palette, the transparent index, and
    /// the image moved to the corner.
    static func still(_ frame: StoredFrame, of index: AnimationIndex) -> [UInt8] {
        var still = index.preamble
        func put(_ value: Int, at offset: Int) {
            still[offset] = UInt8(truncatingIfNeeded: value)
            still[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
        }
        let screen = frame.visibleSize(on: index.header.size)
        put(screen.width, at: 6)
        put(screen.height, at: 8)
        if let color = frame.transparentIndex { still += [0x21, 0xF9, 4, 1, 0, 0, color, 0] }
        let descriptor = still.count
        still += frame.data
        put(0, at: descriptor + 1)
        put(0, at: descriptor + 3)
        still.append(0x3B)
        return still
    }
}
