public import ImageCodecs

extension PixelBuffer {
    /// Returns the most important colors of the image: at most `count`, from the most to the least frequent.
    ///
    /// `count` is limited to 256. Transparent pixels do not count, and an image without others has no colors. Takes about
    /// 2 MB of memory, and a copy of the image if its format is not `PixelFormat.rgba8`.
    public func palette(count: Int) -> [PixelColor] {
        guard count > 0 else { return [] }
        let histogram = ColorHistogram(converted(to: .rgba8))
        let colors = MedianCut.colors(of: histogram, limit: min(count, 256)).filter { $0.count > 0 }
        return colors.sorted { $0.count > $1.count }.map(\.color)
    }

    /// The color of the largest part of the image, out of eight; `nil` if all pixels are transparent.
    ///
    /// Calculated for each access.
    public var dominantColor: PixelColor? { palette(count: 8).first }
}
