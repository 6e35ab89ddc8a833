extension PixelBuffer {
    /// The same image stored in another format, by the formulas of ``PixelFormat``.
    ///
    /// What a format does not hold is lost: of gray images the colors, of premultiplied ones those of transparent pixels.
    public func converted(to format: PixelFormat) -> PixelBuffer {
        format == self.format ? self : turned(.up, format: format)
    }

    /// The image turned by `orientation`, after its part `region` has been scaled to `size`, if that is given; stored as
    /// before, or in `format`.
    func turned(
        _ orientation: ImageOrientation, region: PixelRegion? = nil, scaledTo size: PixelSize? = nil,
        resampling: Resampling = Resampling(), hasAlpha: Bool = true, format: PixelFormat? = nil
    ) -> PixelBuffer {
        let pipeline = RowPipeline(
            rowSize: self.size, region: region, scaledSize: size ?? self.size, resampling: resampling,
            orientation: orientation, hasAlpha: hasAlpha, format: format ?? self.format)
        let isStraight = self.format == .rgba8 || pipeline.takesDeepRows && self.format == .rgba16
        var straight = [UInt8](repeating: 0, count: isStraight ? 0 : width * 4)
        for row in 0..<height {
            let bytes = bytes.span.extracting(row * rowBytes..<(row + 1) * rowBytes)
            if isStraight {
                pipeline.append(row: bytes)
            } else {
                for x in 0..<width {
                    let pixel = self.format.load(bytes, at: x * self.format.bytesPerPixel)
                    straight[x * 4] = pixel.red
                    straight[x * 4 + 1] = pixel.green
                    straight[x * 4 + 2] = pixel.blue
                    straight[x * 4 + 3] = pixel.alpha
                }
                pipeline.append(row: straight.span)
            }
        }
        return pipeline.pixels
    }
}
