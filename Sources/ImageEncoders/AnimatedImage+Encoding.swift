public import ImageCodecs

extension AnimationDecoder {
    /// The animation as a file, its frames as large and upright as the options of the image ask, with `metadata` in it.
    ///
    /// A still image is written as one. Throws what ``AnimationDecoder`` and ``AnimationEncoder`` throw.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        guard image.frameCount > 1 else { return try frame(at: 0).encoded(with: options, metadata: metadata) }
        let encoder = try AnimationEncoder(
            options: options, size: image.size, loopCount: image.loopCount, metadata: metadata)
        for index in 0..<image.frameCount { try encoder.append(try frame(at: index), delay: image.delay(at: index)) }
        return try encoder.finish()
    }
}

extension AnimatedImage {
    /// The animation as a file, as ``AnimationDecoder/encoded(with:metadata:)`` writes it.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        try AnimationDecoder(self, windowBytes: 0).encoded(with: options, metadata: metadata)
    }

    /// The same for `format`, all else being usual; `quality`, 1 to 100, is for JPEG and WebP.
    public func encoded(as format: ImageFormat, quality: Int = 85) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodingOptions(format, quality: quality))
    }
}
