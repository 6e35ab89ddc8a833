/// The picture that the frames of an animation make, one painted over the other.
final class AnimationCanvas: RowSink {
    /// What is to be seen.
    private(set) var pixels: PixelBuffer

    private let blending: Blending
    private var frame: StoredFrame?
    /// The frame's place before it was painted, where it has to come back.
    private var saved: [UInt8] = []
    private var nextRow = 0
    /// The place of the last frame, if it has been cleared: there is nothing to lay pixels over.
    private var cleared: StoredFrame?

    /// How half-transparent pixels are laid over others.
    enum Blending {
        /// As the specification of PNG has it, rounded.
        case exact
        /// As libwebp approximates it, for the same pixels as everywhere.
        case libwebp
    }

    /// A transparent canvas, whose size the caller has checked against its limits.
    init(size: PixelSize, blending: Blending) {
        pixels = PixelBuffer(transparent: size)
        self.blending = blending
    }

    /// Whether all rows of the frame have come.
    var isFrameComplete: Bool { nextRow == frame?.visibleSize(on: pixels.size).height }

    /// Makes everything transparent, for a frame that does not care for those before it.
    func clear() {
        frame = nil
        cleared = nil
        saved = []
        pixels = PixelBuffer(transparent: pixels.size)
    }

    /// Takes the last frame away, as it wishes, and expects the rows of the next one.
    func begin(_ next: StoredFrame) {
        disposeOfFrame()
        frame = next
        nextRow = 0
        if next.disposal == .previous { saved = visibleRows(of: next).flatMap { Array(pixels.bytes[$0]) } }
    }

    /// The next row of what is visible of the frame.
    func append(row: Span<UInt8>) {
        guard let frame, !isFrameComplete else { return }
        let y = frame.top + nextRow
        nextRow += 1
        let start = (y * pixels.width + frame.left) * 4
        if frame.blend == .source {
            pixels.bytes.replace(at: start, with: row)
            return
        }
        for column in 0..<row.count / 4 {
            let source = column * 4
            let alpha = row[source + 3]
            guard alpha > 0 else { continue }
            // Over nothing, too, what libwebp approximates would change the pixel.
            if alpha == 255 || frame.isIndependent || isCleared(x: frame.left + column, y: y) {
                for channel in 0..<4 { pixels.bytes[start + source + channel] = row[source + channel] }
            } else {
                lay(row, source, overPixelAt: start + source)
            }
        }
    }

    private func isCleared(x: Int, y: Int) -> Bool {
        guard let cleared else { return false }
        return x >= cleared.left && x - cleared.left < cleared.size.width
            && y >= cleared.top && y - cleared.top < cleared.size.height
    }

    /// Lays a pixel over another; neither is fully transparent, nor the upper one opaque.
    private func lay(_ row: Span<UInt8>, _ source: Int, overPixelAt place: Int) {
        func above(_ channel: Int) -> UInt32 { UInt32(row[source + channel]) }
        func below(_ channel: Int) -> UInt32 { UInt32(pixels.bytes[place + channel]) }
        switch blending {
        case .exact:
            let upper = above(3) * 255
            let lower = (255 - above(3)) * below(3)
            for channel in 0..<3 {
                let sum = above(channel) * upper + below(channel) * lower
                pixels.bytes[place + channel] = UInt8(truncatingIfNeeded: (sum + (upper + lower) / 2) / (upper + lower))
            }
            pixels.bytes[place + 3] = UInt8(truncatingIfNeeded: (upper + lower + 127) / 255)
        case .libwebp:
            let lower = (below(3) * (256 - above(3))) >> 8
            let alpha = above(3) + lower
            let scale = (1 << 24) / alpha
            for channel in 0..<3 {
                let sum = above(channel) * above(3) + below(channel) * lower
                pixels.bytes[place + channel] = UInt8(truncatingIfNeeded: (sum * scale) >> 24)
            }
            pixels.bytes[place + 3] = UInt8(truncatingIfNeeded: alpha)
        }
    }

    private func disposeOfFrame() {
        guard let frame else { return }
        cleared = frame.disposal == .background ? frame : nil
        let rows = visibleRows(of: frame)
        switch frame.disposal {
        case .keep: break
        case .background:
            for row in rows {
                pixels.bytes.replaceSubrange(row, with: repeatElement(0, count: row.count))
            }
        case .previous:
            var offset = 0
            for row in rows {
                pixels.bytes.replaceSubrange(row, with: saved[offset..<offset + row.count])
                offset += row.count
            }
        }
        saved = []
        self.frame = nil
    }

    /// The bytes of each of its rows on the canvas.
    private func visibleRows(of frame: StoredFrame) -> [Range<Int>] {
        let visible = frame.visibleSize(on: pixels.size)
        guard visible.area > 0 else { return [] }
        return (0..<visible.height).map { row in
            let start = ((frame.top + row) * pixels.width + frame.left) * 4
            return start..<start + visible.width * 4
        }
    }
}
