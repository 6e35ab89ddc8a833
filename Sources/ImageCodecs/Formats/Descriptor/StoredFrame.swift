/// A frame as stored in the file: its area, timing, and composition rules.
struct StoredFrame: Sendable, Equatable {
    /// The treatment of the frame's area after its display time.
    enum Disposal {
        /// The frame stays.
        case keep
        /// The area becomes transparent, as in browsers, regardless of the background color of the file.
        case background
        /// The previous content is restored.
        case previous
    }

    /// The way the frame's pixels are combined with those below.
    enum Blend {
        /// The frame's pixels replace those below, even where they are transparent.
        case source
        /// The frame's pixels are blended with those below.
        case over
    }

    var left: Int
    var top: Int
    var size: PixelSize
    /// The delay declared in the file.
    var delay: Duration
    var disposal = Disposal.keep
    var blend = Blend.source
    /// The GIF color index that leaves the pixel below unchanged.
    var transparentIndex: UInt8?
    /// The part of the file that contains its compressed pixels: a GIF's image, a PNG's data chunks, a WebP's chunks.
    var data: [UInt8]
    /// The maximum number of bytes of tables for the lossless data of a WebP frame; 0 if it has none.
    var tableBytes = 0
    /// A Boolean value that indicates whether the frame looks the same regardless of earlier frames.
    var isIndependent = false

    /// Returns whether the frame replaces every pixel of the canvas.
    func covers(_ canvas: PixelSize) -> Bool {
        left == 0 && top == 0 && size.width >= canvas.width && size.height >= canvas.height
    }

    /// Returns the size of the part inside the canvas.
    ///
    /// Only GIF frames can extend beyond it.
    func visibleSize(on canvas: PixelSize) -> PixelSize {
        PixelSize(
            width: max(0, min(size.width, canvas.width - left)), height: max(0, min(size.height, canvas.height - top)))
    }

    /// Returns the visible area on a canvas of `size`, which can be empty.
    func place(on canvas: PixelSize) -> PixelRectangle {
        PixelRectangle(left: left, top: top, size: visibleSize(on: canvas))
    }

    /// The display time: frames with a delay of 10 ms or less are shown for 100 ms, as in browsers.
    var shownDelay: Duration { delay <= .milliseconds(10) ? .milliseconds(100) : delay }
}

extension StoredFrame {
    /// Determines whether the frame can be shown without earlier ones, which left the canvas blank if `isBlank` is
    /// set, and updates `isBlank` to the state after this frame.
    mutating func updateIndependence(onBlank isBlank: inout Bool, _ canvas: PixelSize) {
        let coversAll = covers(canvas)
        // A frame that restores the previous content depends on it.
        isIndependent = isBlank || coversAll && blend == .source && disposal != .previous
        switch disposal {
        case .keep: isBlank = false
        case .background: isBlank = isBlank || coversAll
        case .previous: break
        }
    }
}
