#if JPEGXL
import CJXL
import ImageCodecs

/// Owns a decoder of libjxl for the frames of a complete file, and a copy of the file.
@safe
final class JPEGXLFileDecoder {
    let decoder: JPEGXLDecoder
    /// It stays in its place, to which libjxl refers.
    private let file: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) throws(CodecError) {
        decoder = try JPEGXLDecoder(JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE)
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe file.initialize(fromContentsOf: bytes)
        unsafe self.file = file
    }

    deinit {
        _ = unsafe JxlDecoderReleaseInput(decoder.handle)
        unsafe file.deallocate()
    }

    /// Continues with frame `index`, counted from 0.
    func seek(to index: Int) throws(CodecError) {
        try decoder.rewind()
        try decoder.check(unsafe JxlDecoderSetInput(decoder.handle, file.baseAddress, file.count))
        // Those on which no later one depends are not decoded.
        unsafe JxlDecoderSkipFrames(decoder.handle, index)
    }
}
#endif
