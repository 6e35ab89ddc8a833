extension PixelBuffer {
    /// The image as a file, written as `options` say, with `metadata` in it.
    ///
    /// PNG keeps the 16 bits of ``PixelFormat/rgba16``. JPEG has no transparency: such parts are laid over white. GIF keeps no metadata, and a profile for other
    /// colours than the image can have, such as CMYK, is left out. Throws `encodingFailed` if the format cannot hold
    /// the image, such as a WebP of more than 16,383 pixels a side, or has no room for the metadata: 65,527 bytes of
    /// Exif data in JPEG, 16 MiB otherwise.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        guard size.area > 0 else { throw .encodingFailed(options.format, "it has no pixels") }
        if format == .rgba16, case .png(let options) = options {
            return try PNGEncoder.encode(self, options: options, metadata: metadata)
        }
        let pixels = converted(to: .rgba8)
        switch options {
        case .jpeg(let options): return try JPEGEncoder.encode(pixels, options: options, metadata: metadata)
        case .png(let options): return try PNGEncoder.encode(pixels, options: options, metadata: metadata)
        case .webp(let options): return try WebPEncoder.encode(pixels, options: options, metadata: metadata)
        case .gif:
            let encoder = try AnimationEncoder(options: options, size: size, loopCount: 1)
            try encoder.append(pixels, delay: .zero)
            return try encoder.finish()
        }
    }

    /// The image as a file of `format`, all else being usual.
    ///
    /// `quality`, 1 to 100, is for JPEG and WebP, which is lossy; PNG is always lossless, and GIF has up to 256
    /// colours. A JPEG that `isProgressive` shows the whole image early, coarsely. Throws what
    /// ``encoded(with:metadata:)`` throws.
    public func encoded(
        as format: ImageFormat, quality: Int = 85, isProgressive: Bool = false
    ) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodingOptions(format, quality: quality, isProgressive: isProgressive))
    }

    /// Whether no pixel is transparent.
    public var isOpaque: Bool {
        switch format {
        case .gray8: true
        case .rgba16: stride(from: 6, to: bytes.count, by: 8).allSatisfy { bytes[$0] == 255 && bytes[$0 + 1] == 255 }
        default: stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
        }
    }

    /// Whether red, green and blue are the same everywhere, in straight RGBA.
    var isGrey: Bool {
        let bytes = bytes.span
        for pixel in stride(from: 0, to: bytes.count, by: 4)
        where bytes[pixel] != bytes[pixel + 1] || bytes[pixel] != bytes[pixel + 2] {
            return false
        }
        return true
    }
}
