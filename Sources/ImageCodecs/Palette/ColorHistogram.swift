/// The number of pixels of each color in an image; with more than 32,768 colors, they are grouped by the upper five bits
/// of each channel.
package struct ColorHistogram {
    /// A color, or the mean of a group, with red, green, and blue from 0 to 255, and its number of pixels.
    struct Bin {
        var color: SIMD4<Float>
        var count: Float
    }

    /// The index of the bin of each color.
    private enum Lookup {
        case colors([Int: UInt16])
        case groups([UInt16])
    }

    /// The nonempty bins.
    private(set) var bins: [Bin] = []
    private var lookup = Lookup.colors([:])

    private static let maximumBins = 1 << 15

    /// Counts the pixels of `pixels`, in RGBA with straight alpha, that are not transparent.
    package init(_ pixels: PixelBuffer) {
        if !countColors(pixels) { countGroups(pixels) }
    }

    /// Counts each color; returns `false` if there are too many.
    private mutating func countColors(_ pixels: PixelBuffer) -> Bool {
        var indices: [Int: UInt16] = [:]
        for offset in stride(from: 0, to: pixels.bytes.count, by: 4) where pixels.bytes[offset + 3] > 0 {
            let color = Self.color(pixels.bytes, offset)
            if let index = indices[color] {
                bins[Int(index)].count += 1
            } else {
                guard bins.count < Self.maximumBins else { return false }
                indices[color] = UInt16(bins.count)
                let channels = SIMD4(color >> 16, color >> 8 & 255, color & 255, 0)
                bins.append(Bin(color: SIMD4<Float>(channels), count: 1))
            }
        }
        lookup = .colors(indices)
        return true
    }

    private mutating func countGroups(_ pixels: PixelBuffer) {
        var counts = [Int](repeating: 0, count: Self.maximumBins)
        var sums = [SIMD4<Int>](repeating: .zero, count: Self.maximumBins)
        for offset in stride(from: 0, to: pixels.bytes.count, by: 4) where pixels.bytes[offset + 3] > 0 {
            let group = Self.group(pixels.bytes, offset)
            counts[group] += 1
            sums[group] &+= SIMD4(
                Int(pixels.bytes[offset]), Int(pixels.bytes[offset + 1]), Int(pixels.bytes[offset + 2]), 0)
        }
        bins.removeAll()
        var indices = [UInt16](repeating: 0, count: Self.maximumBins)
        for group in 0..<Self.maximumBins where counts[group] > 0 {
            let count = Float(counts[group])
            indices[group] = UInt16(bins.count)
            bins.append(Bin(color: SIMD4<Float>(sums[group]) / count, count: count))
        }
        lookup = .groups(indices)
    }

    private static func color(_ bytes: [UInt8], _ offset: Int) -> Int {
        Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
    }

    private static func group(_ bytes: [UInt8], _ offset: Int) -> Int {
        Int(bytes[offset] >> 3) << 10 | Int(bytes[offset + 1] >> 3) << 5 | Int(bytes[offset + 2] >> 3)
    }

    /// Returns the index in `colors`, at most 256, of the color nearest to each pixel of the counted image; 0 for
    /// transparent pixels.
    ///
    /// All pixels of a group have the same color.
    package func indices(of pixels: PixelBuffer, in colors: [PixelColor]) -> [UInt8] {
        let palette = colors.map { SIMD4<Float>(Float($0.red), Float($0.green), Float($0.blue), 0) }
        let nearest = bins.map { bin in
            var (least, nearest) = (Float.infinity, UInt8(0))
            for (index, color) in palette.enumerated() {
                let difference = color - bin.color
                let distance = (difference * difference).sum()
                if distance < least { (least, nearest) = (distance, UInt8(index)) }
            }
            return nearest
        }
        return stride(from: 0, to: pixels.bytes.count, by: 4).map { offset in
            guard pixels.bytes[offset + 3] > 0 else { return 0 }
            switch lookup {
            case .colors(let indices): return nearest[Int(indices[Self.color(pixels.bytes, offset)] ?? 0)]
            case .groups(let indices): return nearest[Int(indices[Self.group(pixels.bytes, offset)])]
            }
        }
    }
}
