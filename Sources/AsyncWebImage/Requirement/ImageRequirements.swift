public import ImageCodecs

/// The properties that an image must have, which are checked as soon as the header of its file has been received.
///
/// By default, every image is accepted. Sizes do not depend on the orientation, and are those of the file, before
/// scaling.
public struct ImageRequirements: Sendable, Hashable {
    /// The minimum for both the width and the height, in pixels.
    public var minimumSide: Int?
    /// The maximum for both the width and the height, in pixels.
    public var maximumSide: Int?
    /// The maximum number of pixels.
    public var maximumPixels: Int?
    /// The maximum of the longer side divided by the shorter one.
    public var maximumAspectRatio: Double?
    /// The accepted formats; `nil` for all.
    public var formats: Set<ImageFormat>?
    /// The maximum number of frames.
    ///
    /// If the header does not contain their number (``ImageHeader/frameCount``), it is checked at the end of the file. A
    /// load that needs only the beginning accepts the image.
    public var maximumFrames: Int?

    /// Creates requirements.
    public init(
        minimumSide: Int? = nil, maximumSide: Int? = nil, maximumPixels: Int? = nil, maximumAspectRatio: Double? = nil,
        formats: Set<ImageFormat>? = nil, maximumFrames: Int? = nil
    ) {
        self.minimumSide = minimumSide
        self.maximumSide = maximumSide
        self.maximumPixels = maximumPixels
        self.maximumAspectRatio = maximumAspectRatio
        self.formats = formats
        self.maximumFrames = maximumFrames
    }

    /// A requirement that an image does not meet, with the required value.
    public enum Violation: Sendable, Hashable {
        /// A side is shorter than ``ImageRequirements/minimumSide``.
        case tooSmall(PixelSize, minimumSide: Int)
        /// A side is longer than ``ImageRequirements/maximumSide``.
        case tooLarge(PixelSize, maximumSide: Int)
        /// There are more pixels than ``ImageRequirements/maximumPixels``.
        case tooManyPixels(PixelSize, maximum: Int)
        /// The aspect ratio exceeds ``ImageRequirements/maximumAspectRatio``.
        case aspectRatio(PixelSize, maximum: Double)
        /// The format is not one of ``ImageRequirements/formats``.
        case format(ImageFormat)
        /// There are more frames than ``ImageRequirements/maximumFrames``.
        case tooManyFrames(Int, maximum: Int)
    }

    /// Returns the first requirement that an image with this header does not meet; `nil` if it meets all.
    public func violation(by header: ImageHeader) -> Violation? {
        if let formats, !formats.contains(header.format) { return .format(header.format) }
        let size = header.size
        let (short, long) = (min(size.width, size.height), max(size.width, size.height))
        if let minimumSide, short < minimumSide { return .tooSmall(size, minimumSide: minimumSide) }
        if let maximumSide, long > maximumSide { return .tooLarge(size, maximumSide: maximumSide) }
        if let maximumPixels, size.area > maximumPixels { return .tooManyPixels(size, maximum: maximumPixels) }
        if let maximumAspectRatio, short > 0, Double(long) / Double(short) > maximumAspectRatio {
            return .aspectRatio(size, maximum: maximumAspectRatio)
        }
        if let maximumFrames, let count = header.frameCount, count > maximumFrames {
            return .tooManyFrames(count, maximum: maximumFrames)
        }
        return nil
    }
}

extension ImageRequirements.Violation: CustomStringConvertible {
    /// A sentence that contains the property of the image and the requirement.
    public var description: String {
        switch self {
        case .tooSmall(let size, let minimum):
            "the image is \(size), but each side must have at least \(minimum) pixels"
        case .tooLarge(let size, let maximum): "the image is \(size), but no side may have more than \(maximum) pixels"
        case .tooManyPixels(let size, let maximum): "the image is \(size), which is more than \(maximum) pixels"
        case .aspectRatio(let size, let maximum): "the image is \(size); its aspect ratio exceeds \(maximum)"
        case .format(let format): "\(format) is not one of the required formats"
        case .tooManyFrames(let count, let maximum): "the image has \(count) frames, which is more than \(maximum)"
        }
    }
}
