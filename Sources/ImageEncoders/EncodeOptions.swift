public import ImageCodecs

/// The format of an encoded file and its options.
public struct EncodeOptions: Sendable {
    /// The encoder of the format.
    public let encoder: any ImageEncoder

    /// Creates the options of an encoder, which need not be one of this library.
    public init(_ encoder: some ImageEncoder) {
        self.encoder = encoder
    }

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
    public var format: ImageFormat { encoder.format }
}

extension EncodeOptions {
    /// The formats that this library can encode.
    public static let formats: [ImageFormat] = [.jpeg, .png, .webp, .gif]

    /// JPEG.
    public static func jpeg(_ options: JPEGOptions = JPEGOptions()) -> EncodeOptions { Self(JPEGEncoder(options)) }

    /// PNG, or APNG for animations.
    public static func png(_ options: PNGOptions = PNGOptions()) -> EncodeOptions { Self(PNGEncoder(options)) }

    /// WebP, still or animated.
    public static func webp(_ options: WebPOptions = WebPOptions()) -> EncodeOptions { Self(WebPEncoder(options)) }

    /// GIF, still or animated.
    public static func gif(_ options: GIFOptions = GIFOptions()) -> EncodeOptions { Self(GIFEncoder(options)) }
}

extension EncodeOptions: Hashable {
    /// Returns whether two values have equal encoders of the same type.
    public static func == (first: EncodeOptions, second: EncodeOptions) -> Bool {
        AnyHashable(first.encoder) == AnyHashable(second.encoder)
    }

    /// Adds the encoder to `hasher`.
    public func hash(into hasher: inout Hasher) { AnyHashable(encoder).hash(into: &hasher) }
}
