extension PixelBuffer {
    /// Returns the image in the middle of a canvas of `size`, with opaque white margins.
    ///
    /// If the margins differ by a pixel, the left and the upper ones are narrower. Where the image is larger than
    /// `size`, the canvas is as large as the image. This method checks no limits: check a size that
    /// you do not trust.
    public func padded(to size: PixelSize) -> PixelBuffer {
        let canvas = PixelSize(width: max(size.width, width), height: max(size.height, height))
        guard canvas != self.size else { return self }
        let (left, top) = ((canvas.width - width) / 2, (canvas.height - height) / 2)
        // In all formats, white and opaque are the largest values.
        var padded = [UInt8](repeating: 255, count: canvas.area * format.bytesPerPixel)
        for row in 0..<height {
            let start = ((top + row) * canvas.width + left) * format.bytesPerPixel
            padded.replace(at: start, with: bytes.span.extracting(row * rowBytes..<(row + 1) * rowBytes))
        }
        return PixelBuffer(size: canvas, bytes: padded, format: format) ?? self
    }
}
