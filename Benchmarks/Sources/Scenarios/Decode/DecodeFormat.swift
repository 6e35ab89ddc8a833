import ImageCodecs

/// The kinds of files that are decoded.
enum DecodeFormat: String, Codable, Hashable, Sendable, CaseIterable {
    case baselineJPEG = "JPEG"
    case progressiveJPEG = "progressive JPEG"
    case png = "PNG"
    case webp = "WebP"

    var imageFormat: ImageFormat {
        switch self {
        case .baselineJPEG, .progressiveJPEG: .jpeg
        case .png: .png
        case .webp: .webp
        }
    }

    /// The engine that only decodes, or `nil` for PNG, for which none is in common use.
    var limit: DecodeEngine? {
        switch self {
        case .baselineJPEG, .progressiveJPEG: .djpeg
        case .png: nil
        case .webp: .dwebp
        }
    }
}
