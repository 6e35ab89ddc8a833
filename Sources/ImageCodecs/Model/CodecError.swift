/// Why a file could not be decoded, or an image not be encoded.
public enum CodecError: Error, Sendable, Hashable {
    /// The bytes are no JPEG, PNG, WebP or GIF, nor of a ``CustomFormat``; `lookingLike` says what they seem to be,
    /// such as "HTML".
    case unsupportedFormat(lookingLike: String)
    /// The file ends before its image does.
    case truncated(ImageFormat)
    /// The file breaks its format's rules; the detail is the codec's.
    case corrupt(ImageFormat, String)
    /// The file is valid, but uses something that is not supported.
    case unsupportedFeature(ImageFormat, String)
    /// The header gives a width or height of zero.
    case zeroPixels(ImageFormat, PixelSize)
    /// A limit of ``DecodeLimits`` was passed, or the decode can never fit the memory allowed for it.
    case overLimit(Limit, value: Int, limit: Int)
    /// The encoder refused the image, or there is none for the format; the detail is the codec's.
    case encodingFailed(ImageFormat, String)
    /// The decoder of a ``CustomFormat`` does not do as its protocol says, whatever the file may be.
    case decoderFault(ImageFormat, String)

    /// Which limit was passed.
    public enum Limit: String, Sendable, Hashable {
        /// Width times height.
        case pixels
        /// Pixels along one side.
        case side = "pixels a side"
        /// Bytes of the compressed file.
        case bytes
        /// Scans of a progressive JPEG.
        case scans
        /// Frames of an animation.
        case frames
        /// Width times height times the frames of an animation.
        case animationPixels = "pixels of all frames"
        /// Bytes before the header was complete.
        case headerBytes = "bytes of header"
        /// Bytes of memory the decode would need.
        case memory = "bytes of memory"
    }
}

extension CodecError: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .unsupportedFormat(let lookingLike): "not a JPEG, PNG, WebP or GIF image: it looks like \(lookingLike)"
        case .truncated(let format): "the \(format.name) file ends before its image is complete"
        case .corrupt(let format, let detail): "the \(format.name) file is corrupt: \(detail)"
        case .unsupportedFeature(let format, let detail): "this \(format.name) file cannot be decoded: \(detail)"
        case .zeroPixels(let format, let size): "the \(format.name) image has no pixels (\(size))"
        case .overLimit(let limit, let value, let maximum):
            "the image needs \(value) \(limit.rawValue), over the limit of \(maximum)"
        case .encodingFailed(let format, let detail): "the image cannot be written as \(format.name): \(detail)"
        case .decoderFault(let format, let detail): "the decoder for \(format.name) is at fault: \(detail)"
        }
    }
}

extension CodecError {
    /// A Boolean value that indicates whether the file was well as far as it goes: it ends too early, or its data are damaged.
    var isDamage: Bool {
        switch self {
        case .truncated, .corrupt: true
        case .unsupportedFormat, .unsupportedFeature, .zeroPixels, .overLimit, .encodingFailed, .decoderFault: false
        }
    }
}
