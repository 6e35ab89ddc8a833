/// One of the eight sizes at which libjpeg can decode an image, computing only as many pixels as it hands out.
struct JPEGScale {
    /// The size is this many eighths of the stored one, 1 to 8.
    let eighths: Int
    /// That size, in pixels.
    let rowSize: PixelSize

    private init(eighths: Int, of size: PixelSize) {
        self.eighths = eighths
        // libjpeg rounds up.
        rowSize = PixelSize(width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
    }

    /// The smallest one of all.
    static func eighth(of size: PixelSize) -> JPEGScale { JPEGScale(eighths: 1, of: size) }

    /// Those that libjpeg-turbo computes in vectors: 5/8 takes longer than the whole image.
    private static let fastEighths = [1, 2, 4]

    /// The smallest one at least twice as large as `target` both ways, which leaves the filter behind it enough detail,
    /// or else the whole image; of those that are fast.
    init(of size: PixelSize, for target: PixelSize) {
        for eighths in Self.fastEighths {
            let scale = JPEGScale(eighths: eighths, of: size)
            if scale.rowSize.width / 2 >= target.width, scale.rowSize.height / 2 >= target.height {
                self = scale
                return
            }
        }
        self.init(eighths: 8, of: size)
    }

    /// The largest fast one, up to `largest`, whose sides are no longer than `side`, or else the smallest of all.
    init(of size: PixelSize, maximumSide side: Int, noLargerThan largest: JPEGScale) {
        self = largest
        for eighths in Self.fastEighths.reversed()
        where eighths < self.eighths && max(rowSize.width, rowSize.height) > side {
            self.init(eighths: eighths, of: size)
        }
    }

    /// The largest one that gives exactly `rowSize`, if there is one.
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
