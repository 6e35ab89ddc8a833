public import ImageCodecs

extension AnimationDecoder {
    /// Returns the encoded animation, with the frame size and orientation that the image's options define, and with
    /// `metadata`.
    ///
    /// An animation of one frame is encoded as a still image. Throws the errors of ``AnimationDecoder`` and
    /// ``AnimationEncoder``.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        guard image.frameCount > 1 else { return try frame(at: 0).encoded(with: options, metadata: metadata) }
        let encoder = try AnimationEncoder(
            options: options, size: image.size, repetitionCount: image.repetitionCount, metadata: metadata)
        for index in 0..<image.frameCount { try encoder.append(try frame(at: index), delay: image.delay(at: index)) }
        return try encoder.finish()
    }
}

extension AnimatedImage {
    /// Returns the encoded animation; see ``AnimationDecoder/encoded(with:metadata:)``.
    public func encoded(
        with options: EncodingOptions, metadata: ImageMetadata = ImageMetadata()
    ) throws(CodecError) -> [UInt8] {
        try AnimationDecoder(self, windowBytes: 0).encoded(with: options, metadata: metadata)
    }

    /// Returns the animation encoded in `format` with default options; `quality`, 1 to 100, applies to JPEG and WebP.
    public func encoded(as format: ImageFormat, quality: Int = 85) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodingOptions(format, quality: quality))
    }
}
