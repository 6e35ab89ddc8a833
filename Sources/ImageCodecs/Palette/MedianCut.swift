/// Selects representative colors of an image: boxes of colors are split until there are enough of them.
///
/// Each split is at the mean of the box with the largest sum of squared differences. There are at most 256 splits of
/// at most 32,768 bins, regardless of the image.
package enum MedianCut {
    /// Returns up to `limit` colors for the image counted in `histogram`, and the numbers of pixels that they represent.
    package static func colors(of histogram: ColorHistogram, limit: Int) -> [(color: PixelColor, count: Int)] {
        var bins = histogram.bins
        var boxes = [Box(bins[...])]
        while boxes.count < limit, let worst = boxes.indices.max(by: { boxes[$0].error < boxes[$1].error }),
            boxes[worst].error > 0
        {
            let box = boxes[worst]
            let middle = bins[box.range].partition { $0.color[box.axis] > box.mean[box.axis] }
            guard middle > box.range.lowerBound, middle < box.range.upperBound else {
                // The colors differ by less than floating-point precision.
                boxes[worst].error = 0
                continue
            }
            boxes[worst] = Box(bins[box.range.lowerBound..<middle])
            boxes.append(Box(bins[middle..<box.range.upperBound]))
        }
        return boxes.map { ($0.color, Int($0.count)) }
    }

    /// A range of adjacent bins.
    private struct Box {
        let range: Range<Int>
        let mean: SIMD4<Float>
        /// The number of pixels.
        let count: Float
        /// The channel with the largest variance.
        let axis: Int
        /// The sum of their squared distances from the mean in that channel.
        var error: Float

        init(_ bins: ArraySlice<ColorHistogram.Bin>) {
            range = bins.startIndex..<bins.endIndex
            let count = bins.reduce(0) { $0 + $1.count }
            let mean = bins.reduce(SIMD4<Float>.zero) { $0 + $1.color * $1.count } / max(count, 1)
            let errors = bins.reduce(SIMD4<Float>.zero) { sum, bin in
                let difference = bin.color - mean
                return sum + difference * difference * bin.count
            }
            self.mean = mean
            self.count = count
            axis = (0..<3).max { errors[$0] < errors[$1] } ?? 0
            error = errors[axis]
        }

        var color: PixelColor {
            func byte(_ value: Float) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
            return PixelColor(red: byte(mean.x), green: byte(mean.y), blue: byte(mean.z))
        }
    }
}
