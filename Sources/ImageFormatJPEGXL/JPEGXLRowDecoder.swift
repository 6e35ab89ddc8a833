#if JPEGXL
import CJXL
import ImageCodecs

/// Decodes an image, or the first frame of an animation, while it arrives.
final class JPEGXLRowDecoder: CustomRowDecoder {
    private var scanner: JPEGXLFrameScanner
    private let decoder: JPEGXLDecoder
    private let header: ImageHeader
    private var pixels: JPEGXLPixels?
    private var information = JxlBasicInfo()
    private var step = 0
    private var isComplete = false

    init(_ header: ImageHeader) throws(CodecError) {
        self.header = header
        scanner = JPEGXLFrameScanner(.firstFrame, memory: header.memoryUsage)
        decoder = try JPEGXLDecoder(
            JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FRAME_PROGRESSION, JXL_DEC_FULL_IMAGE)
        try decoder.check(unsafe JxlDecoderSetProgressiveDetail(decoder.handle, kPasses))
    }

    func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) {
        guard !isComplete else { return }
        if Task.isCancelled { throw .cancelled(.jpegXL) }
        try decode(scanner.admit(bytes), to: &rows)
    }

    private func decode(_ codestream: [UInt8], to rows: inout ImageRows) throws(CodecError) {
        try decoder.append(codestream.span) { (event) throws(CodecError) in
            switch event {
            case JXL_DEC_BASIC_INFO: information = try decoder.information()
            case JXL_DEC_COLOR_ENCODING: _ = try decoder.chooseColors(information)
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                let pixels = JPEGXLPixels(header)
                try pixels.receiveFrame(from: decoder)
                self.pixels = pixels
            case JXL_DEC_FRAME_PROGRESSION:
                // Layers that are not shown alone have passes as well.
                if pixels != nil { step += 1 }
            case JXL_DEC_FULL_IMAGE: isComplete = true
            default: break
            }
            return !isComplete
        }
        if isComplete {
            try pixels?.passRows(to: &rows)
            pixels = nil
        }
    }

    func finish(to rows: inout ImageRows) throws(CodecError) {
        if !isComplete { try decode(scanner.admitRest(), to: &rows) }
        guard isComplete else { throw .truncated(.jpegXL) }
    }

    /// The number of passes that have been decoded, of which libjxl reports those that refine the whole image.
    var previewScan: Int? { step > 0 && !isComplete ? step : nil }

    func renderPreview(to rows: inout ImageRows) throws(CodecError) {
        // If there is nothing new, the pixels stay as they are.
        _ = unsafe JxlDecoderFlushImage(decoder.handle)
        try pixels?.passRows(to: &rows)
    }

    func salvage(to rows: inout ImageRows) throws(CodecError) {
        guard step > 0, !isComplete else { return }
        try renderPreview(to: &rows)
    }
}
#endif
