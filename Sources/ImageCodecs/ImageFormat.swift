/// A compressed image format this library reads and writes.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// JPEG, baseline and progressive (ITU-T T.81).
    case jpeg
    /// PNG (W3C PNG, third edition).
    case png
    /// WebP, lossy and lossless (RFC 9649).
    case webp
    /// GIF87a and GIF89a.
    case gif

    /// How many leading bytes decide the format.
    public static let signatureLength = 12

    /// The format that `bytes`, the beginning of a file, announce by their signature, or nil if it is none of ours.
    public init?(signature bytes: Span<UInt8>) {
        func starts(with signature: [UInt8], at offset: Int = 0) -> Bool {
            guard bytes.count >= offset + signature.count else { return false }
            return signature.indices.allSatisfy { bytes[offset + $0] == signature[$0] }
        }
        if starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if starts(with: Array("RIFF".utf8)), starts(with: Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if starts(with: Array("GIF87a".utf8)) || starts(with: Array("GIF89a".utf8)) {
            self = .gif
        } else {
            return nil
        }
    }

    /// The media type registered for the format, such as `image/jpeg`.
    public var mediaType: String { "image/\(rawValue)" }

    /// The usual file name extension, without the dot.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}
