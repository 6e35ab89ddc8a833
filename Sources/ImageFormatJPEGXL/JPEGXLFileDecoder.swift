#if JPEGXL
import CJXL
import ImageCodecs

/// Owns a decoder of libjxl for the frames of an animation, and a copy of its codestream.
@safe
final class JPEGXLFileDecoder {
    let decoder: JPEGXLDecoder
    /// It stays in its place, to which libjxl refers.
    private let codestream: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) throws(CodecError) {
        decoder = try JPEGXLDecoder(JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE)
        let codestream = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe codestream.initialize(fromContentsOf: bytes)
        unsafe self.codestream = codestream
    }

    deinit {
        _ = unsafe JxlDecoderReleaseInput(decoder.handle)
        unsafe codestream.deallocate()
    }

    /// Continues with frame `index`, counted from 0.
    func seek(to index: Int) throws(CodecError) {
        try decoder.rewind()
        try decoder.check(unsafe JxlDecoderSetInput(decoder.handle, codestream.baseAddress, codestream.count))
        // Those on which no later one depends are not decoded.
        unsafe JxlDecoderSkipFrames(decoder.handle, index)
    }
}
#endif
