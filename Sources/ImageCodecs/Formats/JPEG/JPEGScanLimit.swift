/// The maximum number of scans of a JPEG that are decoded, which depends on its size.
struct JPEGScanLimit: Sendable, Equatable {
    private let size: PixelSize
    private let limits: DecodeLimits

    /// Creates the limit for an image of `size`, which has passed the limits.
    init(of size: PixelSize, limits: DecodeLimits) {
        self.size = size
        self.limits = limits
    }

    /// The maximum number of scans, at least 1.
    var count: Int { min(limits.maximumScans, max(1, limits.maximumWork / max(1, size.area))) }

    /// The error when there is one scan more.
    var error: CodecError {
        if count == limits.maximumScans { return .overLimit(.scans, value: count + 1, limit: count) }
        return .overLimit(.work, value: (count + 1) * size.area, limit: limits.maximumWork)
    }
}
