/// A rectangle inside an image, in fractional pixels from its top left corner.
package struct PixelRegion: Sendable, Hashable {
    var left: Double
    var top: Double
    var width: Double
    var height: Double

    /// Creates a region that covers an image of `size`.
    init(whole size: PixelSize) {
        (left, top) = (0, 0)
        (width, height) = (Double(size.width), Double(size.height))
    }

    /// Creates a region centered in an image of `size`, no larger than the image.
    init(width: Double, height: Double, inTheMiddleOf size: PixelSize) {
        self.width = width
        self.height = height
        left = max(0, (Double(size.width) - width) / 2)
        top = max(0, (Double(size.height) - height) / 2)
    }

    /// Creates a region of whole pixels in the middle of an image of `size`, for which no pixel needs to be resampled.
    init(cutting part: PixelSize, outOfTheMiddleOf size: PixelSize) {
        self.init(width: Double(part.width), height: Double(part.height), inTheMiddleOf: size)
        (left, top) = (left.rounded(.down), top.rounded(.down))
    }

    /// The size in whole pixels, rounded up, except for floating-point error.
    var size: PixelSize {
        PixelSize(width: Int((width - 1e-6).rounded(.up)), height: Int((height - 1e-6).rounded(.up)))
    }

    /// Returns whether it consists of whole pixels and has `size`, so that cropping suffices.
    func isCut(to size: PixelSize) -> Bool {
        left == left.rounded() && top == top.rounded()
            && width == Double(size.width) && height == Double(size.height)
    }

    /// Returns the same part of the image at another size.
    func scaled(from size: PixelSize, to other: PixelSize) -> PixelRegion {
        scaled(by: Double(other.width) / Double(size.width), Double(other.height) / Double(size.height))
    }

    /// Returns the same part of the image at another scale.
    func scaled(by factor: Double) -> PixelRegion { scaled(by: factor, factor) }

    private func scaled(by x: Double, _ y: Double) -> PixelRegion {
        var region = self
        (region.left, region.top) = (left * x, top * y)
        (region.width, region.height) = (width * x, height * y)
        return region
    }
}
