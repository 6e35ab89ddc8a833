/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates a size of `width` columns and `height` rows.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Returns the size with width and height exchanged if `orientation` requires it.
    package func upright(_ orientation: ImageOrientation) -> PixelSize {
        orientation.swapsAxes ? PixelSize(width: height, height: width) : self
    }

    /// The number of pixels; saturates instead of overflowing.
    public var area: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// The width and the height, such as `640x480`.
    public var description: String { "\(width)x\(height)" }
}
