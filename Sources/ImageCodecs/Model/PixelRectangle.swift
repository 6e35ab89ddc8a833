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
    /// All of an image of `size`.
    init(whole size: PixelSize) {
        self.init(left: 0, top: 0, size: size)
    }

    /// The pixels in some columns of some rows.
    init(columns: Range<Int>, rows: Range<Int>) {
        self.init(
            left: columns.lowerBound, top: rows.lowerBound, size: PixelSize(width: columns.count, height: rows.count))
    }

    var columns: Range<Int> { left..<left + size.width }
    var rows: Range<Int> { top..<top + size.height }

    /// What both have in common; nil if that is nothing.
    func intersection(_ other: PixelRectangle) -> PixelRectangle? {
        let columns = columns.clamped(to: other.columns)
        let rows = rows.clamped(to: other.rows)
        return columns.isEmpty || rows.isEmpty ? nil : PixelRectangle(columns: columns, rows: rows)
    }

    /// The smallest rectangle that holds both.
    func union(_ other: PixelRectangle) -> PixelRectangle {
        PixelRectangle(
            columns: min(
                columns.lowerBound, other.columns.lowerBound)..<max(columns.upperBound, other.columns.upperBound),
            rows: min(rows.lowerBound, other.rows.lowerBound)..<max(rows.upperBound, other.rows.upperBound))
    }

    /// The same rectangle seen from another origin.
    func moved(left: Int, up: Int) -> PixelRectangle {
        PixelRectangle(left: self.left - left, top: top - up, size: size)
    }
}
