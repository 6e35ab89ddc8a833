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

    /// Whether standing upright exchanges width and height.
    public var swapsAxes: Bool { rawValue >= 5 }
}
