#if JPEGXL
import CJXL
import ImageCodecs

/// Reads the sizes of the layers of a file, whose pixels are not decoded.
///
/// The header does not declare them, and libjxl allocates memory for layers that exceed the image by any factor.
/// Frames that are never shown, to which others only refer, remain unchecked: libjxl does not report them.
final class JPEGXLLayers {
    /// The number of pixels that a layer of a smaller image may have.
    private static let tolerated = 1 << 20

    private let decoder: JPEGXLDecoder
    private let limit: Int
    private let includesAllFrames: Bool
    private var isComplete = false

    /// Creates a reader for the layers of all frames of an animation, or of the first one.
    init(_ header: ImageHeader, ofAllFrames includesAllFrames: Bool) throws(CodecError) {
        limit = max(header.size.area, Self.tolerated)
        self.includesAllFrames = includesAllFrames
        decoder = try JPEGXLDecoder(JXL_DEC_FRAME)
        try decoder.check(unsafe JxlDecoderSetCoalescing(decoder.handle, 0))
    }

    /// Throws an error if a layer that begins in the next bytes of the file is too large.
    ///
    /// Call this method before the same bytes are decoded.
    func check(_ bytes: Span<UInt8>) throws(CodecError) {
        guard !isComplete else { return }
        try decoder.append(bytes) { (_) throws(CodecError) in
            if Task.isCancelled { throw .cancelled(.jpegXL) }
            var frame = JxlFrameHeader()
            try decoder.check(unsafe JxlDecoderGetFrameHeader(decoder.handle, &frame))
            let (area, overflow) = Int(frame.layer_info.xsize).multipliedReportingOverflow(
                by: Int(frame.layer_info.ysize))
            guard !overflow, area <= limit else { throw .unsupportedFeature(.jpegXL, "layers larger than the image") }
            // Layers without a duration are parts of the next one that has one.
            isComplete = frame.is_last != 0 || (!includesAllFrames && frame.duration > 0)
            return !isComplete
        }
    }
}
#endif
