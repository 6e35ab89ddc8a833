/// The number of pixels of each color in an image, with colors grouped by the upper five bits of each channel.
package struct ColorHistogram {
    /// The mean color of a bin, with red, green, and blue from 0 to 255, and its number of pixels.
    struct Bin {
        var color: SIMD4<Float>
        var count: Float
    }

    /// The nonempty bins.
    private(set) var bins: [Bin] = []
    /// The number of each of them, out of 32,768.
    private var numbers: [Int] = []

    private static let binCount = 1 << 15

    /// Counts the pixels of `pixels`, in RGBA with straight alpha, that are not transparent.
    package init(_ pixels: PixelBuffer) {
        var counts = [Int](repeating: 0, count: Self.binCount)
        var sums = [SIMD4<Int>](repeating: .zero, count: Self.binCount)
        for offset in stride(from: 0, to: pixels.bytes.count, by: 4) where pixels.bytes[offset + 3] > 0 {
            let bin = Self.bin(pixels.bytes, offset)
            counts[bin] += 1
            sums[bin] &+= SIMD4(
                Int(pixels.bytes[offset]), Int(pixels.bytes[offset + 1]), Int(pixels.bytes[offset + 2]), 0)
        }
        for number in 0..<Self.binCount where counts[number] > 0 {
            let count = Float(counts[number])
            bins.append(Bin(color: SIMD4<Float>(sums[number]) / count, count: count))
            numbers.append(number)
        }
    }

    /// Returns the bin of the pixel at `offset`.
    package static func bin(_ bytes: [UInt8], _ offset: Int) -> Int {
        Int(bytes[offset] >> 3) << 10 | Int(bytes[offset + 1] >> 3) << 5 | Int(bytes[offset + 2] >> 3)
    }

    /// Returns the index in `colors`, at most 256, of the color nearest to each of the 32,768 bins that has pixels.
    package func nearest(in colors: [PixelColor]) -> [UInt8] {
        let palette = colors.map { SIMD4<Float>(Float($0.red), Float($0.green), Float($0.blue), 0) }
        var nearest = [UInt8](repeating: 0, count: Self.binCount)
        for (number, bin) in zip(numbers, bins) {
            var least = Float.infinity
            for (index, color) in palette.enumerated() {
                let difference = color - bin.color
                let distance = (difference * difference).sum()
                guard distance < least else { continue }
                least = distance
                nearest[number] = UInt8(index)
            }
        }
        return nearest
    }
}
