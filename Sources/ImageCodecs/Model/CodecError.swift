public import FoundationEssentials

/// The reason why a file could not be decoded, or an image could not be transformed or encoded.
public enum CodecError: Error, Sendable, Hashable {
    /// The bytes are not an image; `lookingLike` names the suspected format, such as "HTML".
    case notAnImage(lookingLike: String)
    /// The image has the format of the given name, such as "AVIF", which is neither built in nor that of a
    /// ``CustomFormat``.
    case unsupportedFormat(String)
    /// The file ends before its image is complete.
    case truncated(ImageFormat)
    /// The file violates its format; the string contains details from the codec.
    case corrupt(ImageFormat, String)
    /// The file is valid but uses an unsupported feature.
    case unsupportedFeature(ImageFormat, String)
    /// The header declares a width or height of zero.
    case zeroPixels(ImageFormat, PixelSize)
    /// A limit of ``DecodeLimits`` was exceeded, or the decode can never fit into the allowed memory.
    case overLimit(Limit, value: Int, limit: Int)
    /// The system has no memory for a decoder, or the file makes the decoder need more than it may use.
    case outOfMemory(ImageFormat)
    /// The image could not be encoded, or the format has no encoder; the string contains details from the codec.
    case encodingFailed(ImageFormat, String)
    /// The decoder of a ``CustomFormat`` violated its contract.
    case decoderFault(ImageFormat, String)
    /// A transformation of the given name cannot be applied to the image; the string contains the reason.
    case transformationFailed(String, String)
    /// The task was canceled while a ``CustomFormat`` decoded the file, or a frame was transformed.
    case cancelled(ImageFormat)

    /// A limit of ``DecodeLimits``, or the memory for decoding.
    public enum Limit: String, Sendable, Hashable {
        /// The number of pixels: width times height.
        case pixels
        /// The number of pixels along one side.
        case side = "pixels on one side"
        /// The size of the compressed file in bytes.
        case bytes
        /// The number of scans of a progressive JPEG.
        case scans
        /// The number of frames of an animation.
        case frames
        /// The number of pixels of all scans, or twice that of all frames (``DecodeLimits/maximumWork``).
        case work = "pixels of work on all scans or frames"
        /// The number of bytes before the header was complete.
        case headerBytes = "header bytes"
        /// The memory needed for decoding, in bytes.
        case memory = "bytes of memory"
    }
}

extension CodecError: CustomStringConvertible {
    /// A sentence that describes the error.
    public var description: String {
        switch self {
        case .notAnImage(let lookingLike): "not an image: it looks like \(lookingLike)"
        case .unsupportedFormat(let name): "images in the format \(name) are not supported"
        case .truncated(let format): "the \(format.name) file ends before its image is complete"
        case .corrupt(let format, let detail): "the \(format.name) file is corrupt: \(detail)"
        case .unsupportedFeature(let format, let detail): "this \(format.name) file cannot be decoded: \(detail)"
        case .zeroPixels(let format, let size): "the \(format.name) image has no pixels (\(size))"
        case .overLimit(let limit, let value, let maximum):
            "the image \(limit == .memory || limit == .work ? "needs" : "has") \(value) \(limit.rawValue), "
                + "which exceeds the limit of \(maximum)"
        case .outOfMemory(let format): "there is not enough memory to decode the \(format.name) file"
        case .encodingFailed(let format, let detail): "the image cannot be written as \(format.name): \(detail)"
        case .decoderFault(let format, let detail): "the decoder for \(format.name) has a defect: \(detail)"
        case .transformationFailed(let name, let detail): "the image cannot be transformed (\(name)): \(detail)"
        case .cancelled(let format): "decoding the \(format.name) file was canceled"
        }
    }
}

extension CodecError.Limit {
    /// The property of ``DecodeLimits`` that sets the limit; `nil` if there is no single one.
    fileprivate var propertyName: String? {
        switch self {
        case .pixels: "maximumPixels"
        case .side: "maximumSide"
        case .bytes: "maximumBytes"
        case .scans: "maximumScans"
        case .frames: "maximumFrames"
        case .work: "maximumWork"
        case .headerBytes: "maximumHeaderBytes"
        case .memory: nil
        }
    }
}

extension CodecError: LocalizedError {
    /// The same sentence as ``description``.
    public var errorDescription: String? { description }

    /// A sentence that names the property of ``DecodeLimits`` to increase; `nil` for `overLimit(.memory)`, which no
    /// property of it determines, and for other errors.
    public var recoverySuggestion: String? {
        guard case .overLimit(let limit, _, _) = self, let name = limit.propertyName else { return nil }
        return "Increase DecodeLimits.\(name) to allow such images."
    }
}

extension CodecError {
    /// A Boolean value that indicates whether the file was valid up to a point: it ends early, or its data is
    /// damaged.
    var isDamage: Bool {
        switch self {
        case .truncated, .corrupt: true
        case .notAnImage, .unsupportedFormat, .unsupportedFeature, .zeroPixels, .overLimit, .outOfMemory,
            .encodingFailed, .decoderFault, .transformationFailed, .cancelled:
            false
        }
    }
}
