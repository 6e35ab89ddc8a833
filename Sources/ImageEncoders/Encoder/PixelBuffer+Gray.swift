import ImageCodecs

extension PixelBuffer {
    /// A Boolean value that indicates whether red, green, and blue are equal in every pixel, for straight RGBA.
    var isGray: Bool {
        let bytes = bytes.span
        for pixel in stride(from: 0, to: bytes.count, by: 4)
        where bytes[pixel] != bytes[pixel + 1] || bytes[pixel] != bytes[pixel + 2] {
            return false
        }
        return true
    }
}
