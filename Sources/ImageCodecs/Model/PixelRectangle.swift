/// A part of an image, in whole pixels.
package struct PixelRectangle: Equatable, Sendable {
    package var left: Int
    package var top: Int
    package var size: PixelSize

    package init(left: Int, top: Int, size: PixelSize) {
        self.left = left
        self.top = top
        self.size = size
    }
}

extension PixelRectangle {
    /// Creates a rectangle that covers an image of `size`.
    init(whole size: PixelSize) {
        self.init(left: 0, top: 0, size: size)
    }

    /// Creates a rectangle of the given columns and rows.
    init(columns: Range<Int>, rows: Range<Int>) {
        self.init(
            left: columns.lowerBound, top: rows.lowerBound, size: PixelSize(width: columns.count, height: rows.count))
    }

    var columns: Range<Int> { left..<left + size.width }
    var rows: Range<Int> { top..<top + size.height }

    /// Returns the intersection; `nil` if it is empty.
    func intersection(_ other: PixelRectangle) -> PixelRectangle? {
        let columns = columns.clamped(to: other.columns)
        let rows = rows.clamped(to: other.rows)
        return columns.isEmpty || rows.isEmpty ? nil : PixelRectangle(columns: columns, rows: rows)
    }

    /// Returns the smallest rectangle that contains both.
    func union(_ other: PixelRectangle) -> PixelRectangle {
        PixelRectangle(
            columns: min(
                columns.lowerBound, other.columns.lowerBound)..<max(columns.upperBound, other.columns.upperBound),
            rows: min(rows.lowerBound, other.rows.lowerBound)..<max(rows.upperBound, other.rows.upperBound))
    }

    /// Returns the rectangle relative to another origin.
    func moved(left: Int, up: Int) -> PixelRectangle {
        PixelRectangle(left: self.left - left, top: top - up, size: size)
    }
}
