import CGIF

/// An image in at most 255 colours and a transparent one.
@safe
struct GIFPalette {
    /// Red, green and blue of each index.
    private(set) var colors: [GifColorType] = []
    /// The index of each pixel.
    private(set) var indices: [UInt8]
    /// The index that stands for no colour, if any pixel is transparent.
    private(set) var transparentIndex: UInt8?

    /// The colours of `pixels`, exactly if there are few enough.
    init(_ pixels: PixelBuffer) throws(CodecError) {
        indices = []
        indices.reserveCapacity(pixels.size.area)
        if !assignExactly(pixels) { try assignNearest(pixels) }
    }

    private mutating func assignExactly(_ pixels: PixelBuffer) -> Bool {
        var indexOfColor: [UInt32: UInt8] = [:]
        var hasTransparentPixels = false
        for offset in stride(from: 0, to: pixels.bytes.count, by: 4) {
            guard pixels.bytes[offset + 3] >= 128 else {
                hasTransparentPixels = true
                indices.append(255)
                continue
            }
            let (red, green, blue) = (pixels.bytes[offset], pixels.bytes[offset + 1], pixels.bytes[offset + 2])
            let color = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
            if let index = indexOfColor[color] {
                indices.append(index)
            } else {
                guard colors.count < 255 else { return false }
                let index = UInt8(colors.count)
                indexOfColor[color] = index
                colors.append(GifColorType(Red: red, Green: green, Blue: blue))
                indices.append(index)
            }
        }
        if hasTransparentPixels { transparentIndex = 255 }
        return true
    }

    /// Lets giflib choose the colours.
    private mutating func assignNearest(_ pixels: PixelBuffer) throws(CodecError) {
        let count = pixels.size.area
        var planes = (0..<3).map { channel in
            stride(from: channel, to: pixels.bytes.count, by: 4).map { pixels.bytes[$0] }
        }
        var blue = planes.removeLast()
        var green = planes.removeLast()
        var red = planes.removeLast()
        var colorCount: Int32 = 255
        colors = [GifColorType](repeating: GifColorType(Red: 0, Green: 0, Blue: 0), count: 256)
        indices = [UInt8](repeating: 0, count: count)
        let status = unsafe GifQuantizeBuffer(
            UInt32(pixels.width), UInt32(pixels.height), &colorCount, &red, &green, &blue, &indices, &colors)
        guard status == GIF_OK else { throw .encodingFailed(.gif, "no choice of colours") }
        for index in 0..<count where pixels.bytes[index * 4 + 3] < 128 {
            indices[index] = 255
            transparentIndex = 255
        }
    }
}
