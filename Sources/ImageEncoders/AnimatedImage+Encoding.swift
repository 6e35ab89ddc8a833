public import ImageCodecs

extension AnimatedImage {
    /// Returns the encoded animation, with the frame size and orientation that the image's options define, and with
    /// `metadata`.
    ///
    /// An animation of one frame is encoded as a still image; a file of several frames that has more than
    /// `maximumBytes` bytes is an error as soon as that is known. Throws the errors of `AnimationDecoder` and
    /// ``AnimationEncoder``.
    public func encoded(
        with options: EncodeOptions, metadata: ImageMetadata = ImageMetadata(),
        maximumBytes: Int = AnimationEncoder.defaultMaximumBytes
    ) throws(CodecError) -> [UInt8] {
        let decoder = AnimationDecoder(self, windowBytes: 0)
        guard frameCount > 1 else { return try decoder.frame(at: 0).encoded(with: options, metadata: metadata) }
        let encoder = try AnimationEncoder(
            options: options, size: size, repetitionCount: repetitionCount, metadata: metadata,
            maximumBytes: maximumBytes)
        for index in 0..<frameCount { try encoder.append(try decoder.frame(at: index), delay: delay(at: index)) }
        return try encoder.finish()
    }

    /// Returns the animation encoded in `format` with default options; `quality`, 1 to 100, applies to JPEG and WebP.
    public func encoded(as format: ImageFormat, quality: Int = 85) throws(CodecError) -> [UInt8] {
        try encoded(with: try EncodeOptions(format, quality: quality))
    }
}
