#if JPEGXL
import CJXL
import ImageCodecs

/// Decodes the frames of an animation, of which it holds the file.
final class JPEGXLAnimation: WholeFileAnimation {
    /// The maximum number of frames that are looked for before the limits on frames are checked.
    private static let maximumFrames = 10_000

    private let header: ImageHeader
    /// The file until the first frame is decoded, when `fileDecoder` copies it.
    private var bytes: [UInt8]
    /// Created with the first frame, as `pixels` is: the limits have been checked by then.
    private var fileDecoder: JPEGXLFileDecoder?
    private lazy var pixels = JPEGXLPixels(header)
    private var information = JxlBasicInfo()
    /// The frame that libjxl decodes next; `nil` before the first one, and after an error.
    private var next: Int?
    let delays: [Duration]
    let repetitionCount: Int

    init(_ bytes: [UInt8], header: ImageHeader) throws(CodecError) {
        (delays, repetitionCount) = try Self.frames(in: bytes.span, header)
        self.header = header
        self.bytes = bytes
    }

    /// Returns the display times of all frames, whose pixels are not decoded, and the number of repetitions.
    private static func frames(
        in file: Span<UInt8>, _ header: ImageHeader
    ) throws(CodecError) -> ([Duration], Int) {
        try JPEGXLLayers(header, ofAllFrames: true).check(file)
        let decoder = try JPEGXLDecoder(JXL_DEC_BASIC_INFO, JXL_DEC_FRAME)
        var animation = JxlAnimationHeader()
        var delays: [Duration] = []
        var hasEnded = false
        try decoder.append(file) { (event) throws(CodecError) in
            if Task.isCancelled { throw .cancelled(.jpegXL) }
            guard event == JXL_DEC_FRAME else {
                animation = try decoder.information().animation
                return true
            }
            guard delays.count < maximumFrames else { throw .unsupportedFeature(.jpegXL, "that many frames") }
            var frame = JxlFrameHeader()
            try decoder.check(unsafe JxlDecoderGetFrameHeader(decoder.handle, &frame))
            let seconds =
                Double(frame.duration) * Double(animation.tps_denominator) / Double(max(animation.tps_numerator, 1))
            delays.append(.milliseconds(Int64(min(max(seconds * 1_000, 0), 1e12).rounded())))
            hasEnded = frame.is_last != 0
            return !hasEnded
        }
        guard hasEnded else { throw .truncated(.jpegXL) }
        return (delays, Int(animation.num_loops))
    }

    /// Returns the decoder of the frames, and forgets `bytes` when it is created.
    private func openFile() throws(CodecError) -> JPEGXLFileDecoder {
        if let fileDecoder { return fileDecoder }
        let created = try JPEGXLFileDecoder(bytes)
        fileDecoder = created
        bytes = []
        return created
    }

    func decodeFrame(at index: Int, to rows: inout ImageRows) throws(CodecError) {
        let file = try openFile()
        let decoder = file.decoder
        if next != index { try file.seek(to: index) }
        next = nil
        while true {
            if Task.isCancelled { throw .cancelled(.jpegXL) }
            let event = unsafe JxlDecoderProcessInput(decoder.handle)
            switch event {
            case JXL_DEC_BASIC_INFO: information = try decoder.information()
            case JXL_DEC_COLOR_ENCODING: _ = try decoder.chooseColors(information)
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER: try pixels.receiveFrame(from: decoder)
            case JXL_DEC_FULL_IMAGE:
                next = index + 1
                return try pixels.passRows(to: &rows)
            case JXL_DEC_NEED_MORE_INPUT, JXL_DEC_SUCCESS: throw .truncated(.jpegXL)
            default: try decoder.check(event)
            }
        }
    }
}
#endif
