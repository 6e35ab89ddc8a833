public import ImageCodecs

extension PixelBuffer {
    /// The image as a file, written as `options` say, with `metadata` in it.
    ///
    /// PNG keeps the 16 bits of ``PixelFormat/rgba16``. JPEG has no transparency: such parts are laid over white. GIF
    /// keeps no metadata, and a profile for other colors than the image can have, such as CMYK, is left out. Throws
    /// `encodingFailed` if the format cannot hold the image, such as a WebP of more than 16,383 pixels a side, or has
    /// no room for the metadata: 65,527 bytes of Exif data in JPEG, 16 MiB otherwise.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        guard size.area > 0 else { throw .encodingFailed(options.format, "it has no pixels") }
        let encoder = options.encoder
        let keepsFormat = format == .rgba16 && encoder.keepsDeepPixels
        return try encoder.encode(keepsFormat ? self : converted(to: .rgba8), metadata: metadata)
    }

    /// The image as a file of `format`, all else being usual.
    ///
    /// `quality`, 1 to 100, is for JPEG and WebP, which is lossy; PNG is always lossless, and GIF has up to 256
    /// colors. A JPEG that `isProgressive` shows the whole image early, coarsely. Throws what
    /// ``encoded(with:metadata:)`` throws.
    public func encoded(
        as format: ImageFormat, quality: Int = 85, isProgressive: Bool = false
    ) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodingOptions(format, quality: quality, isProgressive: isProgressive))
    }
}
