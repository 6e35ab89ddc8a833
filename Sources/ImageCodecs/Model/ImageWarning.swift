/// A deviation of a file from its format that leaves no pixel missing or doubtful.
///
/// Such a file is complete. A decode and a verification collect its warnings in ``ImageHeader/warnings``; missing or
/// doubtful pixels are errors instead.
public enum ImageWarning: String, Sendable, Hashable, CaseIterable {
    /// The file ends before the end marker of its format.
    case missingEnd = "missing_end"
    /// Bytes that belong to no part of the image precede the end marker.
    case extraBytes = "extra_bytes"
    /// There are more compressed pixels than the image has.
    case extraPixels = "extra_pixels"
    /// The compressed pixels end without their checksum.
    case missingChecksum = "missing_checksum"
    /// A checksum is wrong: that of metadata, or that after all compressed pixels, which passed another check.
    case wrongChecksum = "wrong_checksum"
    /// Compressed data refers to earlier data outside of the window that it declares.
    case smallWindow = "small_window"
    /// Compressed data is missing that cannot change a pixel.
    case missingData = "missing_data"
}

extension ImageWarning: CustomStringConvertible {
    /// A clause that describes the deviation.
    public var description: String {
        switch self {
        case .missingEnd: "the end marker is missing"
        case .extraBytes: "there are bytes that belong to no part of the image"
        case .extraPixels: "there are more compressed pixels than the image has"
        case .missingChecksum: "the checksum of the pixels is missing"
        case .wrongChecksum: "a checksum is wrong"
        case .smallWindow: "the declared compression window is too small"
        case .missingData: "compressed data is missing, but no pixel depends on it"
        }
    }
}
