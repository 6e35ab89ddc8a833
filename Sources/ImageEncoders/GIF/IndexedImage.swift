import ImageCodecs

/// An image of at most 256 colors, including a transparent one if necessary.
struct IndexedImage {
    /// The colors by index, without the transparent one.
    private(set) var colors: [PixelColor] = []
    /// The index of each pixel.
    private(set) var indices: [UInt8] = []
    /// The transparent index, after all colors; `nil` if no pixel is transparent.
    private(set) var transparentIndex: UInt8?

    /// Creates an image with the exact colors of `pixels`, up to `limit` including the transparent one.
    ///
    /// Pixels without alpha are transparent and all others opaque. Returns `nil` if there are too many colors.
    init?(exactly pixels: PixelBuffer, _ limit: Int = 256) {
        guard assignExactly(pixels, limit) else { return nil }
        clearTransparentPixels(of: pixels)
    }

    /// Creates an image with a selection of colors, up to `limit` including the transparent one, using the nearest
    /// for each pixel.
    init(nearest pixels: PixelBuffer, _ limit: Int = 256) {
        let histogram = ColorHistogram(pixels)
        colors = MedianCut.colors(of: histogram, limit: limit - (pixels.isOpaque ? 0 : 1)).map(\.color)
        indices = histogram.indices(of: pixels, in: colors)
        clearTransparentPixels(of: pixels)
    }

    private mutating func clearTransparentPixels(of pixels: PixelBuffer) {
        guard !pixels.isOpaque else { return }
        // No larger than needed, to minimize the number of bits.
        let index = UInt8(colors.count)
        for position in indices.indices where pixels.bytes[position * 4 + 3] == 0 { indices[position] = index }
        transparentIndex = index
    }

    private mutating func assignExactly(_ pixels: PixelBuffer, _ limit: Int) -> Bool {
        let limit = limit - (pixels.isOpaque ? 0 : 1)
        var indexOfColor: [PixelColor: UInt8] = [:]
        indices.reserveCapacity(pixels.size.area)
        for offset in stride(from: 0, to: pixels.bytes.count, by: 4) {
            guard pixels.bytes[offset + 3] > 0 else {
                indices.append(0)
                continue
            }
            let color = PixelColor(
                red: pixels.bytes[offset], green: pixels.bytes[offset + 1], blue: pixels.bytes[offset + 2])
            if let index = indexOfColor[color] {
                indices.append(index)
            } else {
                guard colors.count < limit else { return false }
                let index = UInt8(colors.count)
                indexOfColor[color] = index
                colors.append(color)
                indices.append(index)
            }
        }
        return true
    }
}
