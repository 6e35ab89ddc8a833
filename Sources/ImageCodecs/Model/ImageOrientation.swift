/// The rotation and reflection that make the stored rows upright: the values of the Exif `Orientation` tag (Exif
/// 2.32, 4.6.4).
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// Upright as stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Rotated by 180 degrees.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from top left to bottom right.
    case leftMirrored = 5
    /// Must be rotated 90 degrees clockwise.
    case right = 6
    /// Mirrored along the diagonal from top right to bottom left.
    case rightMirrored = 7
    /// Must be rotated 90 degrees counterclockwise.
    case left = 8

    /// A Boolean value that indicates whether the upright image has width and height exchanged.
    package var swapsAxes: Bool { rawValue >= 5 }
}

extension ImageOrientation {
    /// Returns the position in the upright image of the pixel in column `x` of row `y` of an image stored at `size`.
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
