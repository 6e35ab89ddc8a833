import AsyncWebImage
import ImageCodecs

/// The properties of a processed image: those of its source, and the size of the output.
struct ImageFacts: Sendable, Equatable {
    /// The format of the source, as a lowercase word.
    var format: String?
    /// The size of the output in pixels.
    var size: PixelSize?
    /// The size of the source in pixels, oriented like the output.
    var originalSize: PixelSize?
    /// The size of the source in pixels as stored.
    var storedSize: PixelSize?
    /// The orientation that makes the source upright; `nil` if it follows pixels that have not been read.
    var orientation: ImageOrientation?
    /// The number of frames of the source.
    var frames: Int?
    /// A Boolean value that indicates whether part of the image is missing.
    var isPartial = false
    /// The deviations of the source that leave no pixel missing or doubtful; `nil` if the source was not decoded or
    /// verified.
    var warnings: Set<ImageWarning>?

    /// A Boolean value that indicates whether the source has a gain map.
    var hasGainMap = false
    /// A Boolean value that indicates whether the output has the gain map as well.
    var keepsGainMap = true
    /// The requested hashes of the pixels, encoded as JSON.
    var hashes: [PixelHash: [UInt8]] = [:]

    /// The fate of the gain map: `kept`, `dropped`, or `nil` if there is none.
    var gainMap: String? { hasGainMap ? keepsGainMap ? "kept" : "dropped" : nil }

    mutating func describe(_ image: DecodedImage) {
        describe(image.header)
        isPartial = image.isPartial
        warnings = image.header.warnings
        size = image.pixels.size
        originalSize = image.originalSize
        orientation = image.header.orientation
    }

    mutating func describe(_ animation: AnimatedImage) {
        describe(animation.header)
        isPartial = animation.isPartial
        warnings = animation.header.warnings
        size = animation.size
        originalSize = animation.originalSize
        orientation = animation.header.orientation
    }

    mutating func describe(_ header: ImageHeader) {
        format = header.format.identifier
        frames = header.frameCount
        hasGainMap = header.hasGainMap
        size = header.size
        originalSize = header.size
        storedSize = header.size
        orientation = header.hasTrailingOrientation ? nil : header.orientation
    }
}

extension JSONObject {
    /// Adds the size of an image as stored, its orientation, and the size that results; unknown ones are `null`.
    mutating func add(storedSize: PixelSize?, orientation: ImageOrientation?) {
        add("stored_width", storedSize?.width)
        add("stored_height", storedSize?.height)
        addOrientation(orientation, of: storedSize)
    }

    /// Adds the orientation of an image and the size that results from the stored one; unknown ones are `null`.
    mutating func addOrientation(_ orientation: ImageOrientation?, of storedSize: PixelSize?) {
        add("orientation", orientation?.rawValue)
        let upright = orientation.flatMap { storedSize?.upright($0) }
        add("upright_width", upright?.width)
        add("upright_height", upright?.height)
    }
}
