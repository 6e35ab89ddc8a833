/// The canvas on which the frames of an animation are composed.
///
/// Painting, clearing, and restoring a frame takes time proportional to the size of the frame, and memory only where
/// it is painted.
///
/// Unsafe for speed: bounds checks double the time for translucent pixels. Memory safety follows from two invariants:
/// `place` and `cleared` are parts of `window`, whose pixels are all held, and ``append(row:)`` checks the length of
/// rows.
@safe
final class AnimationCanvas: RowSink {
    private enum Storage {
        case bytes(CanvasBytes)
        case pixels
    }

    /// The part of the canvas that is held.
    let window: PixelRectangle
    private let size: PixelSize
    private let blending: FrameBlending
    private var storage: Storage
    /// The pixels of the canvas if the canvas itself is the output; otherwise empty.
    private(set) var pixels: PixelBuffer
    private var changes = CanvasChanges(wasCleared: true)

    private var frame: StoredFrame?
    /// The held part of the area where the frame is painted; `nil` if there is none.
    private var place: PixelRectangle?
    /// The previous pixels of the frame's area, if they must be restored.
    private var saved: [UInt8] = []
    private var nextRow = 0
    /// The area of the last frame if it has been cleared, so that no blending is needed there.
    private var cleared: PixelRectangle?

    /// Creates a transparent canvas of `size`, of which `window` is held.
    ///
    /// The caller has checked both against its limits. With `handsOutPixels`, the whole canvas is available as
    /// ``pixels`` at no extra cost. Throws `overLimit` if the memory cannot be allocated.
    init(size: PixelSize, window: PixelRectangle, blending: FrameBlending, handsOutPixels: Bool) throws(CodecError) {
        self.size = size
        self.window = window
        self.blending = blending
        if handsOutPixels {
            precondition(window == PixelRectangle(whole: size))
            storage = .pixels
            pixels = PixelBuffer(transparent: size)
        } else {
            storage = .bytes(try CanvasBytes(count: window.size.area * 4))
            pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
        }
    }

    /// A Boolean value that indicates whether all rows of the frame have been received.
    var isFrameComplete: Bool { nextRow == frame?.visibleSize(on: size).height }

    /// A Boolean value that indicates whether any part of the frame is visible.
    var isFrameVisible: Bool { place != nil }

    /// Makes the whole canvas transparent, for a frame that does not depend on earlier ones.
    func clear() throws(CodecError) {
        (frame, place, cleared, saved) = (nil, nil, nil, [])
        // Nothing to do on a new canvas.
        guard !changes.wasCleared || !changes.rectangles.isEmpty else { return }
        switch storage {
        case .bytes(let bytes): try bytes.clear()
        case .pixels:
            // Release the old pixels first, unless they are also used elsewhere.
            pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
            pixels = PixelBuffer(transparent: size)
        }
        changes = CanvasChanges(wasCleared: true)
    }

    /// Disposes of the last frame as its disposal method requires, and prepares for the rows of the next one.
    func begin(_ next: StoredFrame) {
        disposeOfFrame()
        frame = next
        nextRow = 0
        place = next.place(on: size).intersection(window)
        guard let place else { return }
        changes.add(place)
        if next.disposal == .previous { save(place) }
    }

    /// Paints the next row of the visible part of the frame.
    func append(row: Span<UInt8>) {
        guard let frame, !isFrameComplete else { return }
        let y = frame.top + nextRow
        nextRow += 1
        guard let place, place.rows.contains(y) else { return }
        precondition(row.count == frame.visibleSize(on: size).width * 4)
        let start = (place.left - frame.left) * 4
        let row = row.extracting(start..<start + place.size.width * 4)
        unsafe withRow(y, of: place) { target in
            unsafe row.withUnsafeBufferPointer { source in
                if frame.blend == .source {
                    _ = unsafe target.update(fromContentsOf: source)
                } else {
                    unsafe blend(source, over: target, y: y, place)
                }
            }
        }
    }

    /// Returns the changes since the last call, in pixels of the whole canvas.
    func takeChanges() -> CanvasChanges {
        defer { changes = CanvasChanges(wasCleared: false) }
        return changes
    }

    /// Calls `body` with each row of `part`, a part of the window.
    func forEachRow(of part: PixelRectangle, _ body: (Span<UInt8>) -> Void) {
        for y in part.rows {
            unsafe withRow(y, of: part) { row in unsafe body(Span(_unsafeElements: UnsafeBufferPointer(row))) }
        }
    }

    private func disposeOfFrame() {
        cleared = nil
        guard let frame, let place else { return }
        switch frame.disposal {
        case .keep: break
        case .background:
            cleared = place
            for y in place.rows { unsafe withRow(y, of: place) { unsafe $0.update(repeating: 0) } }
            changes.add(place)
        case .previous:
            unsafe saved.withUnsafeBufferPointer { saved in
                let count = place.size.width * 4
                for (index, y) in place.rows.enumerated() {
                    unsafe withRow(y, of: place) { row in
                        _ = unsafe row.update(fromContentsOf: saved[index * count..<(index + 1) * count])
                    }
                }
            }
            changes.add(place)
        }
        saved = []
        self.frame = nil
    }

    private func save(_ place: PixelRectangle) {
        saved.reserveCapacity(place.size.area * 4)
        for y in place.rows { unsafe withRow(y, of: place) { unsafe saved.append(contentsOf: $0) } }
    }

    /// Calls `body` with the bytes of row `y` in the columns of `part`, a part of the window.
    private func withRow(_ y: Int, of part: PixelRectangle, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        let start = ((y - window.top) * window.size.width + part.left - window.left) * 4
        let range = start..<start + part.size.width * 4
        switch storage {
        case .bytes(let bytes): unsafe body(bytes.mutable(range))
        case .pixels:
            unsafe pixels.bytes.withUnsafeMutableBufferPointer { unsafe body(.init(rebasing: $0[range])) }
        }
    }

    /// Blends a row of the frame with row `y` of `place`.
    private func blend(
        _ source: UnsafeBufferPointer<UInt8>, over target: UnsafeMutableBufferPointer<UInt8>, y: Int,
        _ place: PixelRectangle
    ) {
        // Even over transparent pixels, libwebp's approximation would change the pixel.
        let isOverNothing = frame?.isIndependent == true
        let blank = cleared.flatMap { $0.rows.contains(y) ? $0.columns : nil } ?? 0..<0
        for column in 0..<place.size.width {
            let pixel = column * 4
            let alpha = unsafe source[pixel + 3]
            guard alpha > 0 else { continue }
            if alpha == 255 || isOverNothing || blank.contains(place.left + column) {
                for channel in pixel..<pixel + 4 { unsafe target[channel] = source[channel] }
            } else {
                unsafe blend(
                    .init(rebasing: source[pixel..<pixel + 4]), overPixel: .init(rebasing: target[pixel..<pixel + 4]))
            }
        }
    }

    /// Blends a pixel, neither transparent nor opaque, with the one below it.
    private func blend(_ above: UnsafeBufferPointer<UInt8>, overPixel below: UnsafeMutableBufferPointer<UInt8>) {
        let alpha = unsafe UInt32(above[3])
        let alphaBelow = unsafe UInt32(below[3])
        switch blending {
        case .exact:
            let upper = alpha * 255
            let lower = (255 - alpha) * alphaBelow
            for channel in 0..<3 {
                let sum = unsafe UInt32(above[channel]) * upper + UInt32(below[channel]) * lower
                unsafe below[channel] = UInt8(truncatingIfNeeded: (sum + (upper + lower) / 2) / (upper + lower))
            }
            unsafe below[3] = UInt8(truncatingIfNeeded: (upper + lower + 127) / 255)
        case .libwebp:
            let lower = (alphaBelow * (256 - alpha)) >> 8
            let scale = (1 << 24) / (alpha + lower)
            for channel in 0..<3 {
                let sum = unsafe UInt32(above[channel]) * alpha + UInt32(below[channel]) * lower
                unsafe below[channel] = UInt8(truncatingIfNeeded: (sum * scale) >> 24)
            }
            unsafe below[3] = UInt8(truncatingIfNeeded: alpha + lower)
        }
    }
}
