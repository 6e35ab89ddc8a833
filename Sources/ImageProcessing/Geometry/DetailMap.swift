import ImageCodecs

/// Where an image probably has what people look at: edges, and saturated colors that are neither dark nor bright.
///
/// As the strategy "attention" of libvips, the map is made of a small copy of the image, in which noise has vanished.
struct DetailMap {
    private let whole: PixelSize
    /// The sums of the scores of each column and row of the small copy.
    private let columns: [Float]
    private let rows: [Float]

    /// The maximum number of pixels on a side of the small copy.
    private static let side = 128
    /// The weight of saturation in relation to that of edges.
    private static let saturationWeight: Float = 0.5

    /// Returns the memory needed for a map of an image of `size`, in bytes.
    static func workingBytes(for size: PixelSize) -> Int {
        BandResampler.workingBytes(from: size, to: small(size), filter: .box) + side * side * 8
    }

    private static func small(_ size: PixelSize) -> PixelSize {
        ScalePlan(of: size, orientation: .up, options: DecodeOptions(target: .maximumSide(side))).scaledSize
    }

    init(_ image: borrowing PixelBuffer) throws(CancellationError) {
        whole = image.size
        let small = try image.turned(
            .up, scaledTo: Self.small(whole), resampling: Resampling(filter: .box), format: .rgba8
        ) { () throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
        }
        var columns = [Float](repeating: 0, count: small.width)
        var rows = [Float](repeating: 0, count: small.height)
        var above = [FloatPixel](repeating: .zero, count: small.width)
        var row = above
        for y in 0..<small.height {
            small.format.read(small.bytes.span.extracting(y * small.rowBytes..<(y + 1) * small.rowBytes), into: &row)
            for x in 0..<small.width {
                let left = row[max(0, x - 1)].luma
                let edge = abs(row[x].luma - left) + (y > 0 ? abs(row[x].luma - above[x].luma) : 0)
                let score = edge + Self.saturationWeight * Self.saturation(row[x])
                columns[x] += score
                rows[y] += score
            }
            swap(&above, &row)
        }
        (self.columns, self.rows) = (columns, rows)
    }

    /// Returns how saturated a color is, 0 to 255: less if it is nearly black or white.
    private static func saturation(_ pixel: FloatPixel) -> Float {
        max(pixel.x, pixel.y, pixel.z) - min(pixel.x, pixel.y, pixel.z)
    }

    /// Returns the offset of the part of `size` with the highest score; the one nearest to the center, if there are more.
    func bestPlace(of size: PixelSize) -> (x: Int, y: Int) {
        (
            Self.bestStart(of: size.width, in: whole.width, columns),
            Self.bestStart(of: size.height, in: whole.height, rows)
        )
    }

    private static func bestStart(of length: Int, in whole: Int, _ scores: [Float]) -> Int {
        let (free, scale) = (whole - length, Double(scores.count) / Double(whole))
        guard free > 0 else { return 0 }
        let middle = free / 2
        let step = max(1, Int(1 / scale))
        var (best, most) = (middle, sum(scores, from: Double(middle) * scale, length: Double(length) * scale))
        for start in stride(from: 0, through: free, by: step) {
            let score = sum(scores, from: Double(start) * scale, length: Double(length) * scale)
            // Sums of equal parts can differ by rounding.
            let difference = score - most
            let isNearer = abs(start - middle) < abs(best - middle)
            if difference > 1e-4 * most || difference > -1e-4 * most && isNearer { (best, most) = (start, score) }
        }
        return best
    }

    /// Returns the sum of a part of `scores`, with parts of the outermost ones.
    private static func sum(_ scores: [Float], from start: Double, length: Double) -> Double {
        let end = min(start + length, Double(scores.count))
        var (sum, position) = (0.0, start)
        while position < end {
            let index = Int(position)
            let next = min(Double(index + 1), end)
            sum += Double(scores[min(index, scores.count - 1)]) * (next - position)
            position = next
        }
        return sum
    }
}
