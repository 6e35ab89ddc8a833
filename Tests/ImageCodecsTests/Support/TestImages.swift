import ImageCodecs

/// Images made up for tests.
enum TestImages {
    /// Smooth colours with some noise in them.
    static func photo(width: Int, height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
        var bytes: [UInt8] = []
        var noise: UInt32 = 12345
        for y in 0..<height {
            for x in 0..<width {
                noise = noise &* 1_664_525 &+ 1_013_904_223
                let grain = Int(noise >> 28)
                bytes.append(UInt8((x * 200 / width + grain) & 255))
                bytes.append(UInt8((y * 200 / height + grain) & 255))
                bytes.append(UInt8(((x + y) * 100 / (width + height) + grain) & 255))
                bytes.append(hasAlpha ? UInt8((x * 255 / width + y) & 255) : 255)
            }
        }
        return try PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes).unwrapped()
    }

    /// A few flat colours.
    static func drawing(width: Int, height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let field = (x / 3 + y / 2) % 5
                if hasAlpha, field == 0 {
                    bytes += [0, 0, 0, 0]
                } else {
                    bytes += [UInt8(field * 50), UInt8(255 - field * 30), UInt8(x % 4 * 60), 255]
                }
            }
        }
        return try PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes).unwrapped()
    }
}

extension Optional {
    struct Missing: Error {}

    /// The value, or an error.
    func unwrapped() throws -> Wrapped {
        guard let self else { throw Missing() }
        return self
    }
}
