/// Counts the frames of an animation and their pixels, and checks them against the limits.
struct FrameBudget: Sendable {
    /// The number of frames so far.
    private(set) var count = 0
    private var pixelCount = 0
    private let canvas: PixelSize
    private let format: ImageFormat
    private let limits: DecodeLimits

    /// Creates a budget for the frames of a file with this header.
    init(of header: ImageHeader, limits: DecodeLimits) {
        canvas = header.size
        format = header.format
        self.limits = limits
    }

    /// Counts a frame of `size`; throws `overLimit` and `zeroPixels`.
    mutating func add(_ size: PixelSize) throws(CodecError) {
        guard count < limits.maximumFrames else {
            throw .overLimit(.frames, value: count + 1, limit: limits.maximumFrames)
        }
        // A GIF can have frames without pixels, which only take time.
        if size.area > 0 { try limits.check(size, format) }
        // A frame can consist of a few bytes but takes as much time as it has pixels, or the canvas.
        let (sum, overflow) = pixelCount.addingReportingOverflow(max(size.area, canvas.area))
        pixelCount = overflow ? .max : sum
        try limits.checkWork(onFramePixels: pixelCount)
        count += 1
    }
}
