import Glibc
import ImageCodecs

/// Rounded corners, or a circle.
struct Round: PixelOperation {
    /// The radius of the corners in pixels; `nil` for a circle in the middle of the image.
    let radius: Double?

    var name: String { radius == nil ? "circle" : "rounded" }
    var parameters: String { radius.map { "\($0)" } ?? "" }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard let radius else {
            let side = min(size.width, size.height)
            return PixelSize(width: side, height: side)
        }
        guard radius >= 0 else { throw failure("the radius \(radius) is not a positive number") }
        return size
    }

    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        let square = radius == nil && size.width != size.height ? outputBytes(for: size, format) : 0
        return square + size.width * 16 + min(size.width, size.height) * 8
    }

    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer {
        let size = try outputSize(for: image.size)
        var image = image
        if size != image.size {
            let (x, y) = ((image.width - size.width) / 2, (image.height - size.height) / 2)
            image = try image.part(columns: x..<x + size.width, rows: y..<y + size.height)
        }
        let most = Double(min(size.width, size.height)) / 2
        let corner = Corner(radius: min(radius ?? most, most))
        let (width, height) = (size.width, size.height)
        for row in 0..<min(corner.side, height) {
            try checkCancellation(atRow: row)
            var missing = corner.missing(inRow: row)
            let mirrored = height - 1 - row
            // The row in the middle can belong to the upper and the lower corners.
            if mirrored < corner.side {
                for (x, part) in corner.missing(inRow: mirrored).enumerated() { missing[x] += part }
            }
            let count = missing.firstIndex { $0 <= 0 } ?? missing.count
            /// Returns the covered part of a pixel, which can belong to the corners on both sides.
            func coverage(_ x: Int) -> Float {
                1 - (x < count ? missing[x] : 0) - (width - 1 - x < count ? missing[width - 1 - x] : 0)
            }
            let left = min(count, width)
            let right = max(left, width - count)
            for y in Set([row, mirrored]) {
                try image.change(columns: 0..<left, rows: y..<y + 1) { pixels, _ in
                    for x in 0..<left { pixels[x] *= coverage(x) }
                }
                try image.change(columns: right..<width, rows: y..<y + 1) { pixels, _ in
                    for x in right..<width { pixels[x - right] *= coverage(x) }
                }
            }
        }
        return image
    }
}

/// The corner of a rectangle, rounded by a circle: how much of each pixel is outside, exactly.
private struct Corner {
    let radius: Double

    /// The number of rows and columns with pixels that are not completely inside.
    var side: Int { Int(radius.rounded(.up)) }

    /// Returns the part of each pixel of a row, from the edge, that is outside of the circle.
    ///
    /// Pixel (x, y) of the corner is the square from x to x + 1 and from y to y + 1, and the center of the circle has
    /// both coordinates equal to the radius. Beyond the center, everything is inside.
    func missing(inRow row: Int) -> [Float] {
        let (near, far) = (max(0, radius - Double(row + 1)), radius - Double(row))
        return (0..<side).map { column in
            let (left, right) = (max(0, radius - Double(column + 1)), radius - Double(column))
            guard left * left + near * near < radius * radius else { return Float((right - left) * (far - near)) }
            guard right * right + far * far > radius * radius else { return 0 }
            return Float(max(0, (right - left) * (far - near) - area(left, right, near, far)))
        }
    }

    /// Returns the area of the quarter circle around the origin in the rectangle from (`left`, `near`) to (`right`,
    /// `far`).
    private func area(_ left: Double, _ right: Double, _ near: Double, _ far: Double) -> Double {
        let square = radius * radius
        func reach(_ y: Double) -> Double { max(0, square - y * y).squareRoot() }
        /// Returns the area below the circle from 0 to `x`.
        func integral(_ x: Double) -> Double { (x * reach(x) + square * asin(min(1, x / radius))) / 2 }
        // Up to the first one, the circle is beyond the rectangle; from the second one, it does not reach it.
        let full = min(max(reach(far), left), right)
        let end = min(max(reach(near), full), right)
        guard end > full else { return (full - left) * (far - near) }
        return (full - left) * (far - near) + integral(end) - integral(full) - near * (end - full)
    }
}
