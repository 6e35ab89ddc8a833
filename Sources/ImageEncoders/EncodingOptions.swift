public import ImageCodecs

/// The format of a file to be written, and how to write it.
public enum EncodingOptions: Sendable, Hashable {
    /// A JPEG.
    case jpeg(JPEGOptions = JPEGOptions())
    /// A PNG, or an animated one.
    case png(PNGOptions = PNGOptions())
    /// A WebP, or an animated one.
    case webp(WebPOptions = WebPOptions())
    /// A GIF, still or animated.
    case gif(GIFOptions = GIFOptions())

    /// The usual way to write `format`, at a quality of 1 to 100 if it has one.
    ///
    /// Throws `encodingFailed` for formats that this library does not write.
    public init(_ format: ImageFormat, quality: Int = 85, isProgressive: Bool = false) throws(CodecError) {
        switch format {
        case .jpeg: self = .jpeg(JPEGOptions(quality: quality, isProgressive: isProgressive))
        case .png: self = .png()
        case .webp: self = .webp(WebPOptions(quality: quality))
        case .gif: self = .gif()
        default: throw .encodingFailed(format, "there is no encoder for it")
        }
    }

    /// The format.
    public var format: ImageFormat {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        }
    }
}

extension EncodingOptions {
    /// What writes the format: one entry for each.
    var encoder: any FormatEncoder {
        switch self {
        case .jpeg(let options): JPEGEncoder(options)
        case .png(let options): PNGEncoder(options)
        case .webp(let options): WebPEncoder(options)
        case .gif(let options): GIFEncoder(options)
        }
    }
}
