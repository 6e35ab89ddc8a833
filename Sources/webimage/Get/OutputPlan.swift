import AsyncWebImage
import ImageEncoders

/// What is to be written for an image, as the options of the command say.
struct OutputPlan: Sendable, Equatable {
    /// The three ways from a download to a file.
    enum Way: Sendable, Equatable {
        /// As downloaded; only the header is read.
        case untouched
        /// As downloaded, after it has been decoded once.
        case verified
        /// Decoded and written anew; nil is JPEG for opaque images and PNG for others, and for animations their own.
        case converted(ImageFormat?)
    }

    let way: Way
    let options: DecodeOptions
    /// For JPEG and WebP.
    let quality: Int
    /// For WebP.
    let isLossless: Bool
    /// For JPEG.
    let isProgressive: Bool
    /// A Boolean value that indicates whether all frames are written, not only the first.
    let keepsAnimations: Bool

    /// A Boolean value that indicates whether the pixels of whole images are held until they are encoded.
    var holdsFullSize: Bool {
        if case .converted = way { options.target == .original } else { false }
    }

    init(
        format: OutputFormat?, options: DecodeOptions, quality: Int, isLossless: Bool = false,
        isProgressive: Bool = false, takesFirstFrame: Bool = false
    ) {
        self.options = options
        var whole = options
        whole.allowsPartial = false
        whole.keepsProfile = false  // what is not written anew has it in any case
        self.quality = quality
        self.isLossless = isLossless
        self.isProgressive = isProgressive
        keepsAnimations = !takesFirstFrame && format != .jpeg
        way =
            switch format {
            case .original: .untouched
            case .jpeg: .converted(.jpeg)
            case .png: .converted(.png)
            case .webp: .converted(.webp)
            case .gif: .converted(.gif)
            case nil: whole == DecodeOptions() && !takesFirstFrame ? .verified : .converted(nil)
            }
    }

    /// How a file of `format` is written.
    func encoding(_ format: ImageFormat) throws(CodecError) -> EncodingOptions {
        isLossless && format == .webp
            ? .webp(WebPOptions(isLossless: true))
            : try EncodingOptions(format, quality: quality, isProgressive: isProgressive)
    }
}
