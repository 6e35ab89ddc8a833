extension PixelBuffer {
    /// The image as a file of `format`.
    ///
    /// `quality`, 1 to 100, is for JPEG (alpha is flattened onto white) and lossy WebP; PNG is always lossless, and GIF
    /// has up to 256 colours. A JPEG that `isProgressive` shows the whole image early, coarsely.
    /// Throws `encodingFailed` if the format cannot hold the image, such as a WebP of more than 16,383 pixels a side.
    public func encoded(
        as format: ImageFormat, quality: Int = 85, isProgressive: Bool = false
    ) throws(CodecError) -> [UInt8] {
        guard size.area > 0 else { throw .encodingFailed(format, "it has no pixels") }
        switch format {
        case .jpeg: return try JPEGEncoder.encode(self, quality: quality, progressive: isProgressive)
        case .png: return try PNGEncoder.encode(self)
        case .webp: return try WebPEncoder.encode(self, quality: quality)
        case .gif:
            let encoder = try AnimationEncoder(format: .gif, size: size, loopCount: 1)
            try encoder.append(self, delay: .zero)
            return try encoder.finish()
        }
    }

    /// Whether no pixel is transparent.
    public var isOpaque: Bool {
        stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
    }
}
