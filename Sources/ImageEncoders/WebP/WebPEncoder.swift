import CWebPWriter
import ImageCodecs

/// Encodes WebP with libwebp.
struct WebPEncoder: ImageEncoder {
    static let maximumSide = 16_383

    let format = ImageFormat.webp
    let storesAnimations = true
    let options: WebPOptions

    init(_ options: WebPOptions) {
        self.options = options
    }

    var identity: String {
        "webp \(options.quality) \(options.isLossless) \(options.alphaQuality) \(options.effort)"
    }

    var adjustableQuality: Int? { options.isLossless ? nil : min(max(options.quality, 1), 100) }

    func with(quality: Int) -> WebPEncoder {
        var options = options
        options.quality = quality
        return WebPEncoder(options)
    }

    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        // Alpha is compressed like a lossless file. Noise takes the most memory in both kinds.
        size.area * (options.isLossless || hasAlpha ? 34 : options.quality > 90 ? 29 : 21)
    }

    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        try metadata.embedded(inWebP: try encode(pixels))
    }

    /// Returns the encoded image, with an alpha plane if a pixel is transparent; decoders smooth the edges of the
    /// blocks of a lossy image unless `isFiltered` is `false`.
    func encode(_ pixels: PixelBuffer, isFiltered: Bool = true) throws(CodecError) -> [UInt8] {
        guard pixels.width <= Self.maximumSide, pixels.height <= Self.maximumSide else {
            throw .encodingFailed(.webp, "more than \(Self.maximumSide) pixels on one side")
        }
        var configuration = try Self.configuration(options)
        if !isFiltered { (configuration.autofilter, configuration.filter_strength) = (0, 0) }
        var output = unsafe WebPMemoryWriter()
        unsafe WebPMemoryWriterInit(&output)
        defer { unsafe WebPMemoryWriterClear(&output) }
        var picture = try unsafe Self.picture(of: pixels, isARGB: options.isLossless)
        defer { unsafe WebPPictureFree(&picture) }
        let isWritten = unsafe withUnsafeMutablePointer(to: &output) { output in
            unsafe picture.writer = { unsafe WebPMemoryWrite($0, $1, $2) }
            unsafe picture.custom_ptr = UnsafeMutableRawPointer(output)
            return unsafe WebPEncode(&configuration, &picture) != 0
        }
        guard isWritten else {
            throw .encodingFailed(.webp, "the encoder failed with error \(unsafe picture.error_code.rawValue)")
        }
        return unsafe Array(UnsafeBufferPointer(start: output.mem, count: output.size))
    }

    func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        try WebPAnimationWriter(size: size, repetitionCount: repetitionCount, options: options, metadata: metadata)
    }

    /// Returns libwebp's configuration for `options`.
    private static func configuration(_ options: WebPOptions) throws(CodecError) -> WebPConfig {
        var configuration = WebPConfig()
        let quality = Float(min(max(options.quality, 1), 100))
        guard unsafe WebPConfigPreset(&configuration, WEBP_PRESET_DEFAULT, quality) != 0 else {
            throw .encodingFailed(.webp, "incompatible libwebp")
        }
        configuration.method = Int32(min(max(options.effort, 0), 6))
        configuration.alpha_quality = Int32(min(max(options.alphaQuality, 0), 100))
        if options.isLossless {
            configuration.lossless = 1
            configuration.exact = 1
            configuration.quality = 75  // for a lossless file, this is the effort
        }
        return configuration
    }

    /// Returns a picture with the pixels as ARGB or YUV, which the caller must free.
    private static func picture(of pixels: PixelBuffer, isARGB: Bool) throws(CodecError) -> WebPPicture {
        var picture = unsafe WebPPicture()
        guard unsafe WebPPictureInit(&picture) != 0 else { throw .encodingFailed(.webp, "incompatible libwebp") }
        unsafe picture.use_argb = isARGB ? 1 : 0
        unsafe picture.width = Int32(pixels.width)
        unsafe picture.height = Int32(pixels.height)
        let isImported = unsafe pixels.bytes.withUnsafeBufferPointer { bytes in
            unsafe WebPPictureImportRGBA(&picture, bytes.baseAddress, Int32(pixels.width * 4))
        }
        guard isImported != 0 else {
            unsafe WebPPictureFree(&picture)
            throw .encodingFailed(.webp, "no memory for the pixels")
        }
        return unsafe picture
    }
}
