extension PixelBuffer {
    /// Returns the image in another pixel format, by the formulas of ``PixelFormat``.
    ///
    /// Information that the format cannot hold is lost: the colors for grayscale, and those of transparent pixels for
    /// premultiplied formats.
    public func converted(to format: PixelFormat) -> PixelBuffer {
        format == self.format ? self : turned(.up, format: format)
    }

    /// Returns the image turned by `orientation`, after scaling its part `region` to `size`, if given; in `format`,
    /// if given.
    func turned(
        _ orientation: ImageOrientation, region: PixelRegion? = nil, scaledTo size: PixelSize? = nil,
        resampling: Resampling = Resampling(), hasAlpha: Bool = true, format: PixelFormat? = nil
    ) -> PixelBuffer {
        turned(
            orientation, region: region, scaledTo: size, resampling: resampling, hasAlpha: hasAlpha, format: format,
            check: { () throws(Never) in })
    }

    /// Does the same; before every 64th row, or every row if the image is enlarged, `check` can throw an error that
    /// ends the work.
    package func turned<Failure: Error>(
        _ orientation: ImageOrientation, region: PixelRegion? = nil, scaledTo size: PixelSize? = nil,
        resampling: Resampling = Resampling(), hasAlpha: Bool = true, format: PixelFormat? = nil,
        check: () throws(Failure) -> Void
    ) throws(Failure) -> PixelBuffer {
        let pipeline = RowPipeline(
            rowSize: self.size, region: region, scaledSize: size ?? self.size, resampling: resampling,
            orientation: orientation, hasAlpha: hasAlpha, format: format ?? self.format)
        let isStraight = self.format == .rgba8 || pipeline.accepts16BitRows && self.format == .rgba16
        var straight = [UInt8](repeating: 0, count: isStraight ? 0 : width * 4)
        // One row of a small image can become thousands.
        let checkInterval = (size?.area ?? 0) > self.size.area ? 1 : 64
        for row in 0..<height {
            if row % checkInterval == 0 { try check() }
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
