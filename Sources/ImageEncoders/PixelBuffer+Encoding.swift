public import ImageCodecs

extension PixelBuffer {
    /// Returns the image encoded according to `options`, with `metadata`.
    ///
    /// PNG preserves the 16 bits of `PixelFormat.rgba16`. JPEG has no transparency: transparent parts are blended
    /// over white. GIF stores no metadata. A profile for another color model, such as CMYK, is omitted. Throws
    /// `encodingFailed` if the format cannot store the image, such as a WebP of more than 16,383 pixels per side, or
    /// the metadata: at most 65,527 bytes of Exif data in JPEG, 16 MiB otherwise.
    public func encoded(
        with options: EncodeOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        guard size.area > 0 else { throw .encodingFailed(options.format, "it has no pixels") }
        let encoder = options.encoder
        let keepsFormat = format == .rgba16 && encoder.supports16Bit
        return try encoder.encode(keepsFormat ? self : converted(to: .rgba8), metadata: metadata)
    }

    /// Returns the image encoded in `format` with default options.
    ///
    /// `quality`, from 1 to 100, applies to JPEG and WebP, which are lossy by default; PNG is always lossless, and GIF
    /// has up to 256 colors. `isProgressive` applies to JPEG; see `JPEGOptions.isProgressive`. Throws the errors of
    /// ``encoded(with:metadata:)``.
    public func encoded(
        as format: ImageFormat, quality: Int = 85, isProgressive: Bool = false
    ) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodeOptions(format, quality: quality, isProgressive: isProgressive))
    }
}
