package import ImageCodecs

extension PixelBuffer {
    /// Returns the smallest rectangle that contains all pixels, given by their byte offsets, for which `isSame` is
    /// false; `nil` if there are none.
    func bounds(where isSame: (Int) -> Bool) -> PixelRectangle? {
        var (left, right, top, bottom) = (width, -1, height, -1)
        for y in 0..<height {
            let row = y * width
            guard let first = (0..<width).first(where: { !isSame((row + $0) * 4) }),
                let last = (0..<width).last(where: { !isSame((row + $0) * 4) })
            else { continue }
            (left, right) = (min(left, first), max(right, last))
            (top, bottom) = (min(top, y), y)
        }
        guard right >= left else { return nil }
        return PixelRectangle(
            left: left, top: top, size: PixelSize(width: right - left + 1, height: bottom - top + 1))
    }

    /// Returns the smallest rectangle that contains all pixels that differ from those of `other`, an image of the
    /// same size; one pixel if there are none.
    package func difference(from other: PixelBuffer) -> PixelRectangle {
        bounds { offset in (0..<4).allSatisfy { bytes[offset + $0] == other.bytes[offset + $0] } } ?? .firstPixel
    }

    /// Returns the pixels inside `rectangle`.
    package func cropped(to rectangle: PixelRectangle) -> PixelBuffer {
        var result = PixelBuffer(transparent: rectangle.size)
        let rowBytes = rectangle.size.width * 4
        for row in 0..<rectangle.size.height {
            let start = ((rectangle.top + row) * width + rectangle.left) * 4
            result.bytes.replace(at: row * rowBytes, with: bytes.span.extracting(start..<start + rowBytes))
        }
        return result
    }
}

extension PixelRectangle {
    /// The first pixel, for frames without changes: formats have no empty frames.
    static let firstPixel = PixelRectangle(left: 0, top: 0, size: PixelSize(width: 1, height: 1))
}
