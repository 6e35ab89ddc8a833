#if JPEGXL
import CJXL
import ImageCodecs

/// Decodes the frames of an animation, of which it holds the codestream.
final class JPEGXLAnimation: WholeFileAnimation {
    private let header: ImageHeader
    /// The codestream until the first frame is decoded, when `fileDecoder` copies it.
    private var codestream: [UInt8]
    /// Created with the first frame, as `pixels` is: the limits have been checked by then.
    private var fileDecoder: JPEGXLFileDecoder?
    private lazy var pixels = JPEGXLPixels(header)
    private var information = JxlBasicInfo()
    /// The frame that libjxl decodes next; `nil` before the first one, and after an error.
    private var next: Int?
    let delays: [Duration]
    let repetitionCount: Int

    init(_ file: Span<UInt8>, header: ImageHeader, memory: Int) throws(CodecError) {
        var scanner = JPEGXLFrameScanner(.allFrames, memory: memory)
        codestream = try scanner.admit(file) + scanner.admitRest()
        guard let image = scanner.image, scanner.hasLastFrame else { throw .truncated(.jpegXL) }
        self.header = header
        let tick = 1_000 * Double(image.ticks.denominator) / Double(image.ticks.numerator)
        delays = scanner.durations.map { .milliseconds(Int64(min(Double($0) * tick, 1e12).rounded())) }
        repetitionCount = image.repetitionCount
    }

    /// Returns the decoder of the frames, and forgets `codestream` when it is created.
    private func openFile() throws(CodecError) -> JPEGXLFileDecoder {
        if let fileDecoder { return fileDecoder }
        let created = try JPEGXLFileDecoder(codestream)
        fileDecoder = created
        codestream = []
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
