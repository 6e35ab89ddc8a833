import AsyncWebImage

/// The sizes of images that are accepted, tested as soon as the header of a file is known.
struct SizeFilter: Sendable, Equatable {
    /// The minimum of width and height, in pixels.
    var minimumSide: Int?
    /// The maximum number of pixels.
    var maximumArea: Int?
    /// The maximum of the longer side divided by the shorter one.
    var maximumAspectRatio: Double?

    /// Throws ``ImageRefusal`` if an image of `size` is not accepted.
    func check(_ size: PixelSize) throws {
        let (short, long) = (min(size.width, size.height), max(size.width, size.height))
        if let minimumSide, short < minimumSide {
            throw ImageRefusal(
                code: .tooSmall, description: "the image is \(size), smaller than \(minimumSide) pixels on one side")
        }
        if let maximumArea, size.area > maximumArea {
            throw ImageRefusal(
                code: .tooLarge, description: "the image is \(size), which is more than \(maximumArea) pixels")
        }
        if let maximumAspectRatio, short > 0, Double(long) / Double(short) > maximumAspectRatio {
            throw ImageRefusal(
                code: .aspectRatio, description: "the image is \(size); its aspect ratio exceeds \(maximumAspectRatio)")
        }
    }
}
