/// How the stored rows have to be turned to stand upright: the values of the Exif `Orientation` tag (Exif 2.32, 4.6.4).
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// As stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Turned by 180 degrees.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from top left to bottom right.
    case leftMirrored = 5
    /// To be turned 90 degrees clockwise.
    case right = 6
    /// Mirrored along the diagonal from top right to bottom left.
    case rightMirrored = 7
    /// To be turned 90 degrees counter-clockwise.
    case left = 8

    /// A Boolean value that indicates whether standing upright exchanges width and height.
    public var swapsAxes: Bool { rawValue >= 5 }
}

extension ImageOrientation {
    /// Where the pixel in column `x` of row `y` of an image stored at `size` goes in the upright image.
    func place(x: Int, y: Int, in size: PixelSize) -> (x: Int, y: Int) {
        let right = size.width - 1 - x
        let bottom = size.height - 1 - y
        return switch self {
        case .up: (x, y)
        case .upMirrored: (right, y)
        case .down: (right, bottom)
        case .downMirrored: (x, bottom)
        case .leftMirrored: (y, x)
        case .right: (bottom, x)
        case .rightMirrored: (bottom, right)
        case .left: (y, right)
        }
    }
}
