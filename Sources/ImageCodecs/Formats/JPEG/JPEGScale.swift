/// One of the eight sizes at which libjpeg can decode an image, computing only the pixels it produces.
struct JPEGScale {
    /// The size as a number of eighths of the stored size, 1 to 8.
    let eighths: Int
    /// That size, in pixels.
    let rowSize: PixelSize

    private init(eighths: Int, of size: PixelSize) {
        self.eighths = eighths
        // libjpeg rounds up.
        rowSize = PixelSize(width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
    }

    /// Returns the smallest scale.
    static func eighth(of size: PixelSize) -> JPEGScale { JPEGScale(eighths: 1, of: size) }

    /// Returns whether the image of `size` has at least as many pixels at this scale as `target`, not counting the part
    /// of the last ones that is beyond the image.
    func covers(_ target: PixelSize, of size: PixelSize) -> Bool {
        // The sides of the target have been rounded, by up to half a pixel.
        func covers(_ side: Int, _ targetSide: Int) -> Bool { side * eighths >= targetSide * 8 - 4 }
        return covers(size.width, target.width) && covers(size.height, target.height)
    }

    /// The scales with vectorized code in libjpeg-turbo: 5/8 takes longer than the full size.
    private static let fastEighths = [1, 2, 4]

    /// Creates the smallest fast scale that is at least 1.5 times as large as `target` in both directions, or the full
    /// size if there is none.
    ///
    /// This leaves the resampling filter enough detail.
    init(of size: PixelSize, for target: PixelSize) {
        for eighths in Self.fastEighths {
            let scale = JPEGScale(eighths: eighths, of: size)
            // The sides of the target have been rounded, by up to half a pixel.
            func suffices(_ side: Int, for targetSide: Int) -> Bool { (side * 4 + 3) / 6 >= targetSide }
            if suffices(scale.rowSize.width, for: target.width), suffices(scale.rowSize.height, for: target.height) {
                self = scale
                return
            }
        }
        self.init(eighths: 8, of: size)
    }

    /// Creates the largest fast scale, up to `largest`, whose sides do not exceed `side`, or the smallest if there is
    /// none.
    init(of size: PixelSize, maximumSide side: Int, noLargerThan largest: JPEGScale) {
        self = largest
        for eighths in Self.fastEighths.reversed()
        where eighths < self.eighths && max(rowSize.width, rowSize.height) > side {
            self.init(eighths: eighths, of: size)
        }
    }

    /// Creates the largest scale that results in exactly `rowSize`, if there is one.
    init?(of size: PixelSize, to rowSize: PixelSize) {
        for eighths in (1...8).reversed() {
            let scale = JPEGScale(eighths: eighths, of: size)
            if scale.rowSize == rowSize {
                self = scale
                return
            }
        }
        return nil
    }
}
