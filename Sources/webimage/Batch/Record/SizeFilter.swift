import AsyncWebImage

/// The sizes of images that are taken, tested as soon as the header of a file is known.
struct SizeFilter: Sendable, Equatable {
    /// The minimum of width and height, in pixels.
    var minimumSide: Int?
    /// The maximum number of pixels.
    var maximumArea: Int?
    /// The maximum of the longer side divided by the shorter one.
    var maximumAspectRatio: Double?

    /// Throws ``ImageRefusal`` if an image of `size` is not taken.
    func check(_ size: PixelSize) throws {
        let (short, long) = (min(size.width, size.height), max(size.width, size.height))
        if let minimumSide, short < minimumSide {
            throw ImageRefusal(code: .tooSmall, description: "the image is \(size), smaller than \(minimumSide)")
        }
        if let maximumArea, size.area > maximumArea {
            throw ImageRefusal(code: .tooLarge, description: "the image is \(size), more than \(maximumArea) pixels")
        }
        if let maximumAspectRatio, short > 0, Double(long) / Double(short) > maximumAspectRatio {
            throw ImageRefusal(
                code: .aspectRatio, description: "the image is \(size), more elongated than \(maximumAspectRatio)")
        }
    }
}
