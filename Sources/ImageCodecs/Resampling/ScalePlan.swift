/// The shown part of a stored image and its target size.
package struct ScalePlan: Sendable, Hashable {
    /// The size of the result before it is turned upright.
    package let scaledSize: PixelSize
    /// The shown part of the stored image, in its pixels: all of it, or the center.
    package private(set) var region: PixelRegion
    /// The size of the whole image at this scale, of which `scaledSize` is a part.
    let wholeSize: PixelSize

    /// The maximum requested side; larger values are reduced so that products cannot overflow.
    private static let longestSide = 1 << 24
    /// The maximum length of the side that follows from a requested shorter side; beyond all limits of decoding.
    private static let longestResult = 1 << 40

    /// Creates a plan for an image stored at `size`, not empty, which `orientation` turns upright.
    ///
    /// The result has at least one pixel in each direction; targets below 1 count as 1.
    package init(of size: PixelSize, orientation: ImageOrientation, options: DecodeOptions) {
        let enlarges = options.allowsUpscaling
        switch options.target {
        case .original: self.init(whole: size, scaledTo: size)
        case .maximumSide(let side):
            let box = Self.usable(PixelSize(width: side, height: side))
            self.init(whole: size, scaledTo: Self.fit(size, into: box, enlarges: enlarges))
        case .shorterSide(let side):
            self.init(whole: size, scaledTo: Self.scale(size, toShorterSide: side, enlarges: enlarges))
        case .fit(let box):
            let box = Self.usable(box.upright(orientation))
            self.init(whole: size, scaledTo: Self.fit(size, into: box, enlarges: enlarges))
        case .fill(let box): self.init(of: size, filling: Self.usable(box.upright(orientation)), enlarges: enlarges)
        case .maximumBytes(let limit):
            let pixels = limit / options.pixelFormat.bytesPerPixel
            self.init(whole: size, scaledTo: Self.fit(size, intoPixels: pixels))
        }
    }

    /// Creates a plan for an image with this header, which `orientation` turns upright.
    ///
    /// Targets enlarge images without pixels, with their exact proportions.
    init(of header: ImageHeader, orientation: ImageOrientation, options: DecodeOptions) {
        var (size, options) = (header.size, options)
        if let proportions = header.proportions, options.target.isIndependentOfSize {
            size = proportions
            options.allowsUpscaling = true
        }
        self.init(of: size, orientation: orientation, options: options)
        region = region.scaled(from: size, to: header.size)
    }

    /// Creates a plan for an image whose orientation can change after its pixels: the whole image, as large as any
    /// orientation requires, to be scaled again.
    ///
    /// If all orientations agree, it is their plan.
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

    /// A Boolean value that indicates whether no pixels need to be resampled.
    var isUnscaled: Bool { region.isCut(to: scaledSize) }

    private init(whole size: PixelSize, scaledTo scaledSize: PixelSize) {
        self.scaledSize = scaledSize
        region = PixelRegion(whole: size)
        wholeSize = scaledSize
    }

    /// Creates a plan that fills the box, or the largest part of its shape if the image is too small and must not be
    /// enlarged.
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
            region = PixelRegion(cutting: scaledSize, outOfTheMiddleOf: size)
            wholeSize = size
        }
    }

    private static func fit(_ size: PixelSize, into box: PixelSize, enlarges: Bool) -> PixelSize {
        let width = enlarges ? box.width : min(box.width, size.width)
        let height = enlarges ? box.height : min(box.height, size.height)
        // Determine the limiting side.
        if width * size.height <= height * size.width {
            return PixelSize(width: width, height: rounded(size.height, times: width, over: size.width))
        } else {
            return PixelSize(width: rounded(size.width, times: height, over: size.height), height: height)
        }
    }

    private static func scale(_ size: PixelSize, toShorterSide side: Int, enlarges: Bool) -> PixelSize {
        let shorter = min(size.width, size.height)
        let side = min(max(side, 1), longestSide)
        guard side < shorter || enlarges else { return size }
        return PixelSize(
            width: min(rounded(size.width, times: side, over: shorter), longestResult),
            height: min(rounded(size.height, times: side, over: shorter), longestResult))
    }

    /// Returns the largest size of at most `limit` pixels with the same aspect ratio.
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

    /// Returns `side` scaled, rounded to the nearest integer, but at least 1.
    private static func rounded(_ side: Int, times factor: Int, over divisor: Int) -> Int {
        max(1, (side * factor * 2 + divisor) / (divisor * 2))
    }
}

extension DecodeOptions.Target {
    /// A Boolean value that indicates whether the proportions of an image determine the requested size.
    fileprivate var isIndependentOfSize: Bool {
        switch self {
        case .original, .maximumBytes: false
        case .maximumSide, .shorterSide, .fit, .fill: true
        }
    }
}
