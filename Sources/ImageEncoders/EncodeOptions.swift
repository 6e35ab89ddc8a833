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
    /// A Boolean value that indicates whether files of the format store transparency.
    package var storesTransparency: Bool { format != .jpeg }

    /// A Boolean value that indicates whether files of the format store animations.
    package var storesAnimations: Bool { format != .jpeg }

    /// Returns the maximum number of bytes that encoding a still image takes, including the file, for an image that
    /// hardly compresses; with `hasAlpha`, its pixels can be transparent.
    package func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        let perPixel =
            switch self {
            // The file is up to three times in memory; above a quality of 89, all samples of chroma are kept.
            case .jpeg(let options):
                (options.quality < 90 && options.chroma != .full ? 3 : options.quality <= 95 ? 8 : 13)
                    + (options.isProgressive ? 6 : 0)
            // Alpha is compressed like a lossless file. Noise takes the most memory in both kinds.
            case .webp(let options) where options.isLossless || hasAlpha: 34
            case .webp(let options): options.quality > 90 ? 29 : 21
            case .gif: 20
            case .png: 8
            }
        return size.area * perPixel
    }

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
