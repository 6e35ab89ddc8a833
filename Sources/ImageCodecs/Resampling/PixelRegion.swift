/// A rectangle inside of an image, in pixels and parts of pixels from its top left corner.
struct PixelRegion: Sendable, Hashable {
    var left: Double
    var top: Double
    var width: Double
    var height: Double

    /// All of an image of `size`.
    init(whole size: PixelSize) {
        (left, top) = (0, 0)
        (width, height) = (Double(size.width), Double(size.height))
    }

    /// The middle of an image of `size`, no larger than it.
    init(width: Double, height: Double, inTheMiddleOf size: PixelSize) {
        self.width = width
        self.height = height
        left = max(0, (Double(size.width) - width) / 2)
        top = max(0, (Double(size.height) - height) / 2)
    }

    /// Its size in whole pixels, rounded up, except for what is due to arithmetic.
    var size: PixelSize {
        PixelSize(width: Int((width - 1e-6).rounded(.up)), height: Int((height - 1e-6).rounded(.up)))
    }

    /// Returns whether it is made of whole pixels, as many as `size` says, so that it need only be cut out.
    func isCut(to size: PixelSize) -> Bool {
        left == left.rounded() && top == top.rounded()
            && width == Double(size.width) && height == Double(size.height)
    }

    /// The same part of the image where its `size` is another.
    func scaled(from size: PixelSize, to other: PixelSize) -> PixelRegion {
        let (x, y) = (Double(other.width) / Double(size.width), Double(other.height) / Double(size.height))
        var region = self
        (region.left, region.top) = (left * x, top * y)
        (region.width, region.height) = (width * x, height * y)
        return region
    }
}
