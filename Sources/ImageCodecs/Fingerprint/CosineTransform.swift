import Glibc

/// The lowest frequencies of the two-dimensional discrete cosine transform (DCT-II) of a plane of samples.
struct CosineTransform {
    /// The number of horizontal frequencies.
    let columns: Int
    /// The number of vertical frequencies.
    let rows: Int
    /// The mean products of the samples and the cosines, row by row.
    private let coefficients: [Double]

    /// Transforms `samples`, the rows of a plane of `size`, which is not empty.
    init(_ samples: [Double], size: PixelSize, columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        let horizontal = Self.cosines(of: size.width, count: columns)
        let vertical = Self.cosines(of: size.height, count: rows)
        var sums = [Double](repeating: 0, count: columns * rows)
        for y in 0..<size.height {
            for column in 0..<columns {
                var sum = 0.0
                for x in 0..<size.width { sum += samples[y * size.width + x] * horizontal[column * size.width + x] }
                for row in 0..<rows { sums[row * columns + column] += sum * vertical[row * size.height + y] }
            }
        }
        // In a uniform plane, all frequencies but the mean are only rounding errors.
        coefficients = sums.map { abs($0) < 1e-9 * Double(size.area) ? 0 : $0 / Double(size.area) }
    }

    /// The coefficient of a horizontal and a vertical frequency.
    subscript(column: Int, row: Int) -> Double { coefficients[row * columns + column] }

    /// Returns the cosines of `count` frequencies at the centers of `length` samples.
    private static func cosines(of length: Int, count: Int) -> [Double] {
        (0..<count).flatMap { frequency in
            (0..<length).map { cos(.pi / Double(length) * Double(frequency) * (Double($0) + 0.5)) }
        }
    }
}
