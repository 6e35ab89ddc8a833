public import ImageCodecs

/// The format of an encoded file and its options.
public enum EncodeOptions: Sendable, Hashable {
    /// JPEG.
    case jpeg(JPEGOptions = JPEGOptions())
    /// PNG, or APNG for animations.
    case png(PNGOptions = PNGOptions())
    /// WebP, still or animated.
    case webp(WebPOptions = WebPOptions())
    /// GIF, still or animated.
    case gif(GIFOptions = GIFOptions())

    /// Creates the default options of `format`; `quality`, 1 to 100, applies to JPEG and WebP.
    ///
    /// Throws `encodingFailed` for formats that this library cannot encode.
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

extension EncodeOptions {
    /// The encoder of the format.
    var encoder: any FormatEncoder {
        switch self {
        case .jpeg(let options): JPEGEncoder(options)
        case .png(let options): PNGEncoder(options)
        case .webp(let options): WebPEncoder(options)
        case .gif(let options): GIFEncoder(options)
        }
    }
}
