import ImageCodecs

/// The part of a frame that an animated WebP stores.
struct WebPFramePart {
    /// The place of the part, which begins at even coordinates, as the format requires.
    let place: PixelRectangle
    /// The pixels to store.
    private(set) var pixels: PixelBuffer
    /// A Boolean value that indicates whether the pixels are painted over those of the canvas, which stay where the
    /// part is transparent; otherwise, all of them are replaced.
    private(set) var isBlended = false

    /// Creates the part that consists of a whole frame.
    init(whole frame: PixelBuffer) {
        place = PixelRectangle(left: 0, top: 0, size: frame.size)
        pixels = frame
    }

    /// Creates the part of `frame` in `changes`, which contains all pixels of `canvas` that may not stay.
    init(
        of frame: PixelBuffer, in changes: PixelRectangle, on canvas: PixelBuffer, _ similarity: WebPSimilarity
    ) {
        place = changes.beginningAtEvenCoordinates
        pixels = frame.cropped(to: place)
        isBlended = clearBlocks(of: frame, thatStayOn: canvas, similarity)
        // Some blocks may have been cleared.
        if !isBlended { pixels = frame.cropped(to: place) }
    }

    /// Paints the part on `canvas`, as viewers do.
    func paint(on canvas: inout PixelBuffer) {
        for y in 0..<place.size.height {
            for x in 0..<place.size.width {
                let source = (y * place.size.width + x) * 4
                guard !isBlended || pixels.bytes[source + 3] > 0 else { continue }
                let target = ((place.top + y) * canvas.width + place.left + x) * 4
                for channel in 0..<4 { canvas.bytes[target + channel] = pixels.bytes[source + channel] }
            }
        }
    }

    /// Makes blocks transparent that may stay as they are on `canvas`.
    ///
    /// Returns `false` if there are none, or if a pixel of the other blocks cannot be painted over the canvas.
    private mutating func clearBlocks(
        of frame: PixelBuffer, thatStayOn canvas: PixelBuffer, _ similarity: WebPSimilarity
    ) -> Bool {
        let (old, new, width) = (canvas.bytes, frame.bytes, frame.width)
        let side = similarity.blockSide
        var isAnyCleared = false
        for top in stride(from: 0, to: place.size.height, by: side) {
            let rows = top..<min(top + side, place.size.height)
            for left in stride(from: 0, to: place.size.width, by: side) {
                let columns = left..<min(left + side, place.size.width)
                var (stays, isPaintable) = (true, true)
                for y in rows {
                    let row = ((place.top + y) * width + place.left) * 4
                    for x in columns {
                        let offset = row + x * 4
                        let isKept = similarity.keeps(old, insteadOf: new, at: offset)
                        stays = stays && isKept
                        let alpha = new[offset + 3]
                        isPaintable = isPaintable && (alpha == 255 || (alpha == 0 && isKept))
                    }
                }
                guard stays || isPaintable else { return false }
                guard stays else { continue }
                clear(rows, columns, erasesColors: similarity.isLossless)
                isAnyCleared = true
            }
        }
        return isAnyCleared
    }

    /// Makes pixels transparent; libwebp chooses the colors of lossy ones.
    private mutating func clear(_ rows: Range<Int>, _ columns: Range<Int>, erasesColors: Bool) {
        for y in rows {
            for x in columns {
                let offset = (y * place.size.width + x) * 4
                for channel in erasesColors ? 0..<4 : 3..<4 { pixels.bytes[offset + channel] = 0 }
            }
        }
    }
}

extension PixelRectangle {
    /// The rectangle, extended at the left and the top if it begins at odd coordinates.
    fileprivate var beginningAtEvenCoordinates: PixelRectangle {
        PixelRectangle(
            left: left & ~1, top: top & ~1,
            size: PixelSize(width: size.width + left & 1, height: size.height + top & 1))
    }
}
