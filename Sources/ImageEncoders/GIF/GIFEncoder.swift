import ImageCodecs

/// Encodes GIF: an image is an animation of one frame.
struct GIFEncoder: ImageEncoder {
    let format = ImageFormat.gif
    let storesAnimations = true
    private let options: GIFOptions

    init(_ options: GIFOptions) {
        self.options = options
    }

    var identity: String { "gif \(options.maximumColors)" }

    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int { size.area * 20 }

    /// Returns the encoded image; metadata is not supported.
    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        let writer = try GIFAnimationWriter(size: pixels.size, repetitionCount: 1, options: options)
        try writer.append(pixels, delay: .zero)
        return try writer.finish()
    }

    func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        try GIFAnimationWriter(size: size, repetitionCount: repetitionCount, options: options)
    }
}
