public import ImageCodecs

extension PixelBuffer {
    /// Returns the image encoded in at most `maximumBytes` bytes, with the highest quality, up to that of `options`, for
    /// which that is possible.
    ///
    /// JPEG, lossy WebP, and encoders with an ``ImageEncoder/adjustableQuality`` have one. The image is encoded up to
    /// eight times. Throws `encodingFailed` if the file is larger even with the lowest quality, and the errors of
    /// ``encoded(with:metadata:)``.
    public func encoded(
        with options: EncodeOptions, metadata: ImageMetadata = ImageMetadata(), maximumBytes: Int
    ) throws(CodecError) -> [UInt8] {
        let file = try encoded(with: options, metadata: metadata)
        guard file.count > maximumBytes else { return file }
        var (least, most) = (1, min(options.encoder.adjustableQuality ?? 1, 100) - 1)
        var (best, smallest): ([UInt8]?, Int) = (nil, file.count)
        while least <= most {
            let quality = (least + most) / 2
            let candidate = try encoded(with: options.with(quality: quality), metadata: metadata)
            smallest = min(smallest, candidate.count)
            if candidate.count <= maximumBytes {
                (best, least) = (candidate, quality + 1)
            } else {
                most = quality - 1
            }
        }
        guard let best else {
            let quality = options.encoder.adjustableQuality == nil ? "" : ", even at the lowest quality"
            throw .encodingFailed(
                options.format, "it takes \(smallest) bytes\(quality), which is over the limit of \(maximumBytes)")
        }
        return best
    }
}

extension EncodeOptions {
    /// Returns these options with another quality.
    fileprivate func with(quality: Int) -> EncodeOptions {
        func changed(_ encoder: some ImageEncoder) -> EncodeOptions { EncodeOptions(encoder.with(quality: quality)) }
        return changed(encoder)
    }
}
