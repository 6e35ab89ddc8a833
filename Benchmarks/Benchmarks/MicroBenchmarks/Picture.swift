import ImageCodecs

/// Synthetic pictures with color gradients, edges, and enough grain to require work from a codec.
enum Picture {
    static func pixels(side: Int) throws -> PixelBuffer {
        var bytes = [UInt8](repeating: 255, count: side * side * 4)
        var random: UInt32 = 1
        for y in 0..<side {
            for x in 0..<side {
                random = random &* 1_664_525 &+ 1_013_904_223
                let grain = Int(random >> 29)
                let edge = (x / 64 + y / 64) % 2 * 48
                let offset = (y * side + x) * 4
                bytes[offset] = UInt8(x * 192 / side + grain + edge)
                bytes[offset + 1] = UInt8(y * 192 / side + grain + edge)
                bytes[offset + 2] = UInt8((x + y) * 96 / side + grain + edge)
            }
        }
        guard let pixels = PixelBuffer(size: PixelSize(width: side, height: side), bytes: bytes) else {
            throw PictureError(side: side)
        }
        return pixels
    }
}

/// The error when the bytes of a picture do not fit its size.
struct PictureError: Error {
    let side: Int
}
