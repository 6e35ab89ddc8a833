package import ImageCodecs

/// Pictures made from a seed, the same on every run.
package enum TestImage {
    /// Smooth shades with some noise, as photographs have.
    package static func photo(_ width: Int, _ height: Int, seed: UInt64 = 1) -> PixelBuffer {
        var random = SeededGenerator(seed: seed)
        return make(width, height) { x, y in
            let noise = Int(random.next() % 25)
            return (
                UInt8(clamping: x * 255 / max(width, 2) + noise), UInt8(clamping: y * 230 / max(height, 2) + noise),
                UInt8(clamping: (x * 3 + y * 2) % 256 - noise), 255
            )
        }
    }

    /// Shades of gray.
    package static func gray(_ width: Int, _ height: Int) -> PixelBuffer {
        make(width, height) { x, y in
            let value = UInt8(truncatingIfNeeded: x * 5 + y * 3)
            return (value, value, value, 255)
        }
    }

    /// Blocks of the highest frequency alone, in both directions.
    package static func highestFrequency(_ width: Int, _ height: Int) -> PixelBuffer {
        // The cosines of (2x + 1) * 7 / 16 half turns.
        let cosines = [0.195, -0.556, 0.831, -0.981, 0.981, -0.831, 0.556, -0.195]
        return make(width, height) { x, y in
            let value = UInt8(128 + 120 * cosines[x % 8] * cosines[y % 8])
            return (value, value, value, 255)
        }
    }

    /// Random bytes: the worst case for a filter.
    package static func noise(_ width: Int, _ height: Int, seed: UInt64, isOpaque: Bool) -> PixelBuffer {
        var random = SeededGenerator(seed: seed)
        return make(width, height) { _, _ in
            let bits = random.next()
            func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (index * 8)) }
            return (byte(0), byte(1), byte(2), isOpaque ? 255 : bits >> 40 & 3 == 0 ? 0 : byte(3))
        }
    }

    private static func make(
        _ width: Int, _ height: Int, _ pixel: (Int, Int) -> (UInt8, UInt8, UInt8, UInt8)
    ) -> PixelBuffer {
        var image = PixelBuffer(transparent: PixelSize(width: width, height: height))
        for y in 0..<height {
            for x in 0..<width {
                let offset = (y * width + x) * 4
                let (red, green, blue, alpha) = pixel(x, y)
                image.bytes[offset] = red
                image.bytes[offset + 1] = green
                image.bytes[offset + 2] = blue
                image.bytes[offset + 3] = alpha
            }
        }
        return image
    }
}

/// SplitMix64.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension PixelBuffer {
    /// The bytes without alpha.
    package var rgb: [UInt8] {
        bytes.indices.filter { $0 % 4 != 3 }.map { bytes[$0] }
    }
}
