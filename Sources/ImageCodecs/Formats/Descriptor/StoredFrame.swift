/// A frame as the file has it: where it is painted, and how.
struct StoredFrame: Sendable, Equatable {
    /// What becomes of the frame's place when its time is over.
    enum Disposal {
        /// It stays.
        case keep
        /// It is cleared to transparent, as browsers do whatever background color the file names.
        case background
        /// What was there before comes back.
        case previous
    }

    /// How the frame's pixels meet those below.
    enum Blend {
        /// They replace them, also where they are transparent.
        case source
        /// They are laid over them.
        case over
    }

    var left: Int
    var top: Int
    var size: PixelSize
    /// As the file has it.
    var delay: Duration
    var disposal = Disposal.keep
    var blend = Blend.source
    /// GIF: the index that leaves what is below.
    var transparentIndex: UInt8?
    /// The part of the file that is its compressed pixels: a GIF's image, a PNG's chunks of data, a WebP's chunks.
    var data: [UInt8]
    /// A Boolean value that indicates whether it looks the same whatever came before it.
    var isIndependent = false

    /// Returns whether it leaves no pixel of the canvas as it was.
    func covers(_ canvas: PixelSize) -> Bool {
        left == 0 && top == 0 && size.width >= canvas.width && size.height >= canvas.height
    }

    /// How much of it is inside of the canvas: all, but for GIFs, whose frames may stick out.
    func visibleSize(on canvas: PixelSize) -> PixelSize {
        PixelSize(
            width: max(0, min(size.width, canvas.width - left)), height: max(0, min(size.height, canvas.height - top)))
    }

    /// The visible part of a canvas of `size`; may be empty.
    func place(on canvas: PixelSize) -> PixelRectangle {
        PixelRectangle(left: left, top: top, size: visibleSize(on: canvas))
    }

    /// How long the frame is shown: browsers give a tenth of a second to those of no more than a hundredth.
    var shownDelay: Duration { delay <= .milliseconds(10) ? .milliseconds(100) : delay }
}

extension StoredFrame {
    /// Finds out whether the frame can be shown without those before it, which left the canvas `isBlank` or not; says
    /// how this one leaves it.
    mutating func markIndependence(onBlank isBlank: inout Bool, _ canvas: PixelSize) {
        let coversAll = covers(canvas)
        // One that brings back what was there before needs to know it.
        isIndependent = isBlank || coversAll && blend == .source && disposal != .previous
        switch disposal {
        case .keep: isBlank = false
        case .background: isBlank = isBlank || coversAll
        case .previous: break
        }
    }
}
