/// The arithmetic of fitting an image into what was asked for.
enum DownscalePlan {
    /// The size, before turning, to which an image stored at `size` is to be scaled.
    ///
    /// Never larger, its shape kept as well as whole pixels can, at least one pixel each way. Targets below 1 count as
    /// 1.
    static func scaledSize(
        of size: PixelSize, orientation: ImageOrientation, target: DecodeOptions.Target
    ) -> PixelSize {
        let box: PixelSize
        switch target {
        case .original: return size
        case .maximumSide(let side): box = PixelSize(width: side, height: side)
        case .fit(let upright): box = upright.upright(orientation)
        }
        let width = min(max(box.width, 1), size.width)
        let height = min(max(box.height, 1), size.height)
        // Which side is the tighter one? Sides are at most 65,535, so products are exact.
        if width * size.height <= height * size.width {
            return PixelSize(width: width, height: max(1, (size.height * width * 2 + size.width) / (size.width * 2)))
        } else {
            return PixelSize(width: max(1, (size.width * height * 2 + size.height) / (size.height * 2)), height: height)
        }
    }
}
