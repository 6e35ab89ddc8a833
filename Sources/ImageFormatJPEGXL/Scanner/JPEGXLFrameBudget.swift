#if JPEGXL
import ImageCodecs

/// The memory and the work that the frames of a file cause, of which the header of the image declares nothing.
///
/// libjxl allocates memory for frames of any size, which can be kept for others, and need not be shown themselves.
struct JPEGXLFrameBudget {
    /// The number of pixels that a frame of a smaller image may have.
    private static let toleratedPixels = 1 << 20
    /// The memory that frames may take in addition to twice what the decode has been granted, in bytes: the header does
    /// not declare whether there are layers, which can take that much.
    static let toleratedBytes = 32 << 20
    /// The work on a frame in addition to its pixels.
    private static let frameWork = 1 << 14
    /// The work on hidden frames of a small image, and that of a larger one, relative to its pixels.
    static let toleratedWork = (pixels: 1 << 26, images: 32)

    private let area: Int
    private let channels: Int
    private let memory: Int
    /// The memory of the frames that are kept, in bytes.
    private var kept = [0, 0, 0, 0]
    private var lowFrequencies = [0, 0, 0, 0]
    private var work = 0
    private var shownFrames = 0

    /// Creates a budget for a decode that has been granted `memory` bytes.
    init(_ image: JPEGXLImageFields, memory: Int) {
        area = image.size.area
        channels = 3 + image.extraChannels
        self.memory = memory
    }

    /// Throws an error if a frame exceeds a limit, together with earlier ones.
    mutating func add(_ frame: JPEGXLFrameFields) throws(CodecError) {
        let pixels = frame.size.area
        guard pixels <= max(area, Self.toleratedPixels) else {
            throw .unsupportedFeature(.jpegXL, "layers larger than the image")
        }
        try addWork(on: frame, pixels)
        try addMemory(of: frame, pixels)
    }

    private mutating func addWork(on frame: JPEGXLFrameFields, _ pixels: Int) throws(CodecError) {
        // All shown frames are counted by the caller.
        guard !frame.isShown else {
            shownFrames += 1
            return
        }
        work = saturated(work, plus: saturated(pixels, plus: Self.frameWork))
        let images = Self.toleratedWork.images + 2 * shownFrames
        guard work <= saturated(saturated(area, times: images), plus: Self.toleratedWork.pixels) else {
            throw .unsupportedFeature(.jpegXL, "layers of \(work) pixels")
        }
    }

    /// Adds the memory of a frame.
    ///
    /// Measured with libjxl 0.7: up to 12 bytes for each channel of a pixel while a frame is decoded, unless it has no
    /// more than three of cosine transforms, and 4 for each time that the frame is kept or combined with others.
    private mutating func addMemory(of frame: JPEGXLFrameFields, _ pixels: Int) throws(CodecError) {
        let perPixel = frame.isModular || channels > 3 ? 16 * channels : 20
        var total = saturated(pixels, times: perPixel)
        for bytes in kept + lowFrequencies { total = saturated(total, plus: bytes) }
        if frame.kind == .lowFrequency {
            lowFrequencies[frame.level - 1] = saturated(pixels, times: 12)
            total = saturated(total, plus: lowFrequencies[frame.level - 1])
        } else if let slot = frame.slot {
            // A part of the image is kept with the others. Earlier pixels are replaced only then.
            let whole = frame.kind == .reference ? pixels : max(pixels, area)
            kept[slot] = saturated(whole, times: 4 * channels)
            total = saturated(total, plus: kept[slot])
        }
        guard total <= saturated(saturated(memory, times: 2), plus: Self.toleratedBytes) else {
            throw .unsupportedFeature(.jpegXL, "layers that need \(total) bytes at a time")
        }
    }

    private func saturated(_ value: Int, plus other: Int) -> Int {
        let (sum, overflow) = value.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    private func saturated(_ value: Int, times factor: Int) -> Int {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
#endif
