/// Which part of a stored image is shown, and at what size.
struct ScalePlan: Sendable, Hashable {
    /// Size of the result before it is turned upright.
    let scaledSize: PixelSize
    /// The part of the stored image that is shown, in its pixels: all of it, or the middle.
    let region: PixelRegion
    /// The size that the whole image has at this scale, of which `scaledSize` is a part.
    let wholeSize: PixelSize

    /// Sides wanted that are longer count as this, so that products of sides cannot overflow.
    private static let longestSide = 1 << 24

    /// For an image stored at `size`, not empty, which `orientation` will turn upright.
    ///
    /// At least one pixel each way; targets below 1 count as 1.
    init(of size: PixelSize, orientation: ImageOrientation, options: DecodeOptions) {
        let enlarges = options.allowsEnlarging
        switch options.target {
        case .original: self.init(whole: size, scaledTo: size)
        case .maximumSide(let side):
            let box = Self.usable(PixelSize(width: side, height: side))
            self.init(whole: size, scaledTo: Self.fit(size, into: box, enlarges: enlarges))
        case .fit(let box):
            let box = Self.usable(box.upright(orientation))
            self.init(whole: size, scaledTo: Self.fit(size, into: box, enlarges: enlarges))
        case .fill(let box): self.init(of: size, filling: Self.usable(box.upright(orientation)), enlarges: enlarges)
        case .maximumBytes(let limit):
            let pixels = limit / options.pixelFormat.bytesPerPixel
            self.init(whole: size, scaledTo: Self.fit(size, intoPixels: pixels))
        }
    }

    /// For an image that may have to be turned in a way that is not known before its pixels: all of it, as large as any way
    /// of standing needs, to be scaled again; or the plan for all ways if they agree.
    init(undecided size: PixelSize, options: DecodeOptions) {
        let upright = ScalePlan(of: size, orientation: .up, options: options)
        let onItsSide = ScalePlan(of: size, orientation: .right, options: options)
        if upright == onItsSide {
            self = upright
        } else {
            let larger = upright.wholeSize.area > onItsSide.wholeSize.area ? upright : onItsSide
            self.init(whole: size, scaledTo: larger.wholeSize)
        }
    }

    /// A Boolean value that indicates whether no pixel has to be made of others.
    var isUnscaled: Bool { region.isCut(to: scaledSize) }

    private init(whole size: PixelSize, scaledTo scaledSize: PixelSize) {
        self.scaledSize = scaledSize
        region = PixelRegion(whole: size)
        wholeSize = scaledSize
    }

    /// The whole box if the image is large enough for it or may be enlarged, else as much of its shape as there is.
    private init(of size: PixelSize, filling box: PixelSize, enlarges: Bool) {
        let isNarrower = box.width * size.height <= box.height * size.width  // the height decides
        let (wanted, there) = isNarrower ? (box.height, size.height) : (box.width, size.width)
        if wanted < there || wanted > there && enlarges {
            let ratio = Double(there) / Double(wanted)
            scaledSize = box
            region = PixelRegion(
                width: isNarrower ? Double(box.width) * ratio : Double(size.width),
                height: isNarrower ? Double(size.height) : Double(box.height) * ratio, inTheMiddleOf: size)
            wholeSize = PixelSize(
                width: max(box.width, Self.rounded(size.width, times: wanted, over: there)),
                height: max(box.height, Self.rounded(size.height, times: wanted, over: there)))
        } else {
            scaledSize =
                isNarrower
                ? PixelSize(width: Self.rounded(box.width, times: size.height, over: box.height), height: size.height)
                : PixelSize(width: size.width, height: Self.rounded(box.height, times: size.width, over: box.width))
            // Whole pixels, so that none has to be made of others.
            var region = PixelRegion(
                width: Double(scaledSize.width), height: Double(scaledSize.height), inTheMiddleOf: size)
            (region.left, region.top) = (region.left.rounded(.down), region.top.rounded(.down))
            self.region = region
            wholeSize = size
        }
    }

    private static func fit(_ size: PixelSize, into box: PixelSize, enlarges: Bool) -> PixelSize {
        let width = enlarges ? box.width : min(box.width, size.width)
        let height = enlarges ? box.height : min(box.height, size.height)
        // Which side is the tighter one?
        if width * size.height <= height * size.width {
            return PixelSize(width: width, height: rounded(size.height, times: width, over: size.width))
        } else {
            return PixelSize(width: rounded(size.width, times: height, over: size.height), height: height)
        }
    }

    /// As many pixels as allowed, so that the sides follow from the root.
    private static func fit(_ size: PixelSize, intoPixels limit: Int) -> PixelSize {
        guard size.area > limit else { return size }
        let shape = Double(size.width) / Double(size.height)
        let limit = max(limit, 1)
        let width = max(1, min(Int((Double(limit) * shape).squareRoot()), size.width, limit))
        return PixelSize(
            width: width, height: min(rounded(size.height, times: width, over: size.width), limit / width))
    }

    private static func usable(_ box: PixelSize) -> PixelSize {
        PixelSize(width: min(max(box.width, 1), longestSide), height: min(max(box.height, 1), longestSide))
    }

    /// `side` scaled, to the nearest whole number, but at least 1.
    private static func rounded(_ side: Int, times factor: Int, over divisor: Int) -> Int {
        max(1, (side * factor * 2 + divisor) / (divisor * 2))
    }
}
