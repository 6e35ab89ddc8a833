package import ImageCodecs

/// Synthetic images for tests.
package enum TestImages {
    /// Smooth colors with some noise in them.
    package static func photo(width: Int, height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
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

    /// A few flat colors.
    package static func drawing(width: Int, height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
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

    /// Returns frames of a square that moves across a drawing, or a transparent background if `hasAlpha` is `true`.
    package static func wanderingSquare(_ count: Int, hasAlpha: Bool = false) throws -> [PixelBuffer] {
        try (0..<count).map { index in
            var frame = try TestImages.drawing(width: 24, height: 16)
            for y in 0..<16 {
                for x in 0..<24 {
                    let isInside = (index * 2..<index * 2 + 6).contains(x) && (index..<index + 5).contains(y)
                    let pixel: [UInt8] = isInside ? [255, 0, UInt8(index * 9), 255] : hasAlpha ? [0, 0, 0, 0] : []
                    for (channel, value) in pixel.enumerated() { frame.bytes[(y * 24 + x) * 4 + channel] = value }
                }
            }
            return frame
        }
    }
}

extension Optional {
    package struct Missing: Error {
        package init() {}
    }

    /// The value, or an error.
    package func unwrapped() throws -> Wrapped {
        guard let self else { throw Missing() }
        return self
    }
}
