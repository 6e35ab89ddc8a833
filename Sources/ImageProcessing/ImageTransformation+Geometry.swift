public import ImageCodecs

extension ImageTransformation {
    /// The rectangle of `width` × `height` pixels whose upper left corner is pixel (`x`, `y`).
    ///
    /// Fails if the rectangle is not inside the image.
    public static func crop(x: Int, y: Int, width: Int, height: Int) -> Self {
        Self(RectangleCrop(x: x, y: y, size: PixelSize(width: width, height: height)))
    }

    /// The largest part of the image with the aspect ratio `width` : `height`, whose center is as near as possible to
    /// the point `focus`.
    public static func crop(
        toAspectRatio width: Int, _ height: Int, around focus: Position = .center
    ) -> Self {
        Self(ShapeCrop(width: width, height: height, focus: .position(focus)))
    }

    /// The largest part of the image with the aspect ratio `width` : `height` that shows the most: edges, and saturated
    /// colors.
    public static func smartCrop(toAspectRatio width: Int, _ height: Int) -> Self {
        Self(ShapeCrop(width: width, height: height, focus: .details))
    }

    /// The image with margins of the given widths in pixels, filled with `color`.
    public static func pad(
        left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0, color: PixelColor = .clear
    ) -> Self {
        Self(Pad(extent: .margins(left: left, top: top, right: right, bottom: bottom), color: color))
    }

    /// The image on a canvas of `size`, aligned at `position` and surrounded by `color`.
    ///
    /// Where the image is larger than `size`, the canvas is as large as the image.
    public static func pad(to size: PixelSize, at position: Position = .center, color: PixelColor = .clear) -> Self {
        Self(Pad(extent: .canvas(size, position), color: color))
    }

    /// The image rotated clockwise by a multiple of 90 degrees; other angles fail.
    public static func rotate(degrees: Int) -> Self { Self(Turn(degrees: degrees)) }

    /// The mirror image.
    public static func flip(_ axis: Axis) -> Self { Self(Turn(axis)) }

    /// The image scaled to a size, by the rules for decoding to a size.
    ///
    /// To reduce an image that is loaded, prefer `DecodeOptions.target`, which saves time and memory.
    public static func resize(
        to target: DecodeOptions.Target, resampling: Resampling = Resampling(), allowsUpscaling: Bool = false
    ) -> Self {
        Self(Resize(target: target, resampling: resampling, allowsUpscaling: allowsUpscaling))
    }

    /// The image without the borders whose colors differ from that of the upper left pixel by at most `tolerance`, 0 to
    /// 255, in each component.
    ///
    /// An image of one color stays as it is.
    public static func trim(tolerance: Int = 10) -> Self { Self(Trim(tolerance: tolerance)) }
}
