extension PixelBuffer {
    /// Returns the ThumbHash of the image: a placeholder of at most 25 bytes, with the approximate colors, shapes,
    /// transparency, and aspect ratio.
    ///
    /// It can be decoded by any implementation of ThumbHash. Images larger than 100 × 100 pixels are scaled down
    /// first. The hash of an empty image has no bytes.
    public func thumbHash() -> [UInt8] {
        guard size.area > 0 else { return [] }
        return ThumbHash(reduced(toSide: 100)).bytes
    }

    /// Returns the image, which is not empty, in RGBA with straight alpha, and with neither side longer than `side`.
    package func reduced(toSide side: Int) -> PixelBuffer {
        let box = DecodeOptions(target: .maximumSide(side))
        let small = ScalePlan(of: size, orientation: .up, options: box).scaledSize
        guard small != size || format != .rgba8 else { return self }
        return turned(.up, scaledTo: small, resampling: Resampling(filter: .box), format: .rgba8)
    }
}

/// The encoder of ThumbHash: the lowest frequencies of lightness, colors, and alpha, with four bits each.
private struct ThumbHash {
    /// The hash.
    private(set) var bytes: [UInt8]

    /// Creates the hash of an image in RGBA, not empty.
    init(_ image: PixelBuffer) {
        let planes = Planes(image)
        let hasAlpha = planes.hasAlpha
        let (width, height) = (Double(image.width), Double(image.height))
        // Alpha leaves fewer bits for the lightness.
        let (most, side) = (hasAlpha ? 5.0 : 7, max(width, height))
        let (columns, rows) = (max(1, Self.rounded(most * width / side)), max(1, Self.rounded(most * height / side)))
        func channel(_ plane: [Double], _ columns: Int, _ rows: Int) -> Channel {
            Channel(CosineTransform(plane, size: image.size, columns: columns, rows: rows))
        }
        let lightness = channel(planes.lightness, max(3, columns), max(3, rows))
        let yellowBlue = channel(planes.yellowBlue, 3, 3)
        let redGreen = channel(planes.redGreen, 3, 3)

        let isLandscape = image.width > image.height
        var header = Self.rounded(63 * lightness.mean)
        header |= Self.rounded(31.5 + 31.5 * yellowBlue.mean) << 6
        header |= Self.rounded(31.5 + 31.5 * redGreen.mean) << 12
        header |= Self.rounded(31 * lightness.scale) << 18
        header |= (hasAlpha ? 1 : 0) << 23
        header |= (isLandscape ? rows : columns) << 24
        header |= Self.rounded(63 * yellowBlue.scale) << 27
        header |= Self.rounded(63 * redGreen.scale) << 33
        header |= (isLandscape ? 1 : 0) << 39
        bytes = (0..<5).map { UInt8(truncatingIfNeeded: header >> ($0 * 8)) }
        var varying = lightness.varying + yellowBlue.varying + redGreen.varying
        if hasAlpha {
            let alpha = channel(planes.alpha, 5, 5)
            bytes.append(UInt8(Self.rounded(15 * alpha.mean) | Self.rounded(15 * alpha.scale) << 4))
            varying += alpha.varying
        }
        for (index, value) in varying.enumerated() {
            let bits = UInt8(Self.rounded(15 * value))
            if index % 2 == 0 { bytes.append(bits) } else { bytes[bytes.count - 1] |= bits << 4 }
        }
    }

    private static func rounded(_ value: Double) -> Int { Int(value.rounded()) }

    /// The channels of the image, in front of its average color.
    private struct Planes {
        private(set) var lightness: [Double] = []
        private(set) var yellowBlue: [Double] = []
        private(set) var redGreen: [Double] = []
        private(set) var alpha: [Double] = []

        var hasAlpha: Bool { alpha.contains { $0 < 1 } }

        init(_ image: PixelBuffer) {
            let pixels = stride(from: 0, to: image.bytes.count, by: 4).map { start in
                SIMD4<Double>((start..<start + 4).map { Double(image.bytes[$0]) / 255 })
            }
            var sum = SIMD4<Double>()
            for pixel in pixels { sum += pixel.opaque * pixel.w }
            let average = sum.w > 0 ? sum / sum.w : sum
            for pixel in pixels {
                let color = average * (1 - pixel.w) + pixel * pixel.w
                lightness.append((color.x + color.y + color.z) / 3)
                yellowBlue.append((color.x + color.y) / 2 - color.z)
                redGreen.append(color.x - color.y)
                alpha.append(pixel.w)
            }
        }
    }

    /// The frequencies of a channel: the mean, and those that vary, from 0 to 1 in relation to the largest.
    private struct Channel {
        let mean: Double
        let scale: Double
        let varying: [Double]

        init(_ transform: CosineTransform) {
            var values: [Double] = []
            for row in 0..<transform.rows {
                // The triangle of low frequencies.
                for column in 0..<transform.columns
                where column * transform.rows < transform.columns * (transform.rows - row) {
                    values.append(transform[column, row])
                }
            }
            mean = values.removeFirst()
            let scale = values.reduce(0) { max($0, abs($1)) }
            self.scale = scale
            varying = values.map { scale == 0 ? 0 : 0.5 + 0.5 / scale * $0 }
        }
    }
}

extension SIMD4<Double> {
    /// The pixel with full alpha.
    fileprivate var opaque: SIMD4<Double> { SIMD4(x, y, z, 1) }
}
