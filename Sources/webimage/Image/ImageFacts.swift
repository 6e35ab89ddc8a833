import AsyncWebImage

/// The properties of a processed image: those of its source, and the size of the output.
struct ImageFacts: Sendable, Equatable {
    /// The format of the source, as a lowercase word.
    var format: String?
    /// The size of the output in pixels.
    var size: PixelSize?
    /// The size of the source in pixels, oriented like the output.
    var originalSize: PixelSize?
    /// The number of frames of the source.
    var frames: Int?
    /// A Boolean value that indicates whether part of the image is missing.
    var isPartial = false
    /// The deviations of the source that leave no pixel missing or doubtful; `nil` if the source was not decoded or
    /// verified.
    var warnings: Set<ImageWarning>?

    /// The requested hashes of the pixels, encoded as JSON.
    var hashes: [PixelHash: [UInt8]] = [:]

    mutating func describe(_ image: DecodedImage) {
        describe(image.header)
        isPartial = image.isPartial
        warnings = image.header.warnings
        size = image.pixels.size
        originalSize = image.originalSize
    }

    mutating func describe(_ animation: AnimatedImage) {
        describe(animation.header)
        isPartial = animation.isPartial
        warnings = animation.header.warnings
        size = animation.size
        originalSize = animation.originalSize
    }

    mutating func describe(_ header: ImageHeader) {
        format = header.format.identifier
        frames = header.frameCount
        size = header.size
        originalSize = header.size
    }
}
