import CWebP

/// Writes animated WebP with libwebp, which finds out by itself what changes.
@safe
final class WebPAnimationWriter: AnimationWriter {
    /// A frame's time has 24 bits.
    private static let maximumDelay = 0xFF_FFFF

    private let encoder: OpaquePointer
    private var configuration = WebPConfig()
    /// When the next frame is shown, in milliseconds.
    private var time = 0

    init(size: PixelSize, loopCount: UInt16, quality: Int) throws(CodecError) {
        guard size.width <= WebPEncoder.maximumSide, size.height <= WebPEncoder.maximumSide else {
            throw .encodingFailed(.webp, "more than \(WebPEncoder.maximumSide) pixels a side")
        }
        var options = WebPAnimEncoderOptions()
        guard unsafe WebPAnimEncoderOptionsInit(&options) != 0,
            unsafe WebPConfigPreset(&configuration, WEBP_PRESET_DEFAULT, Float(min(max(quality, 1), 100))) != 0
        else { throw .encodingFailed(.webp, "another version of libwebp") }
        options.anim_params.loop_count = Int32(loopCount)
        guard let encoder = unsafe WebPAnimEncoderNew(Int32(size.width), Int32(size.height), &options) else {
            throw .encodingFailed(.webp, "no memory for an encoder")
        }
        unsafe self.encoder = encoder
    }

    deinit {
        unsafe WebPAnimEncoderDelete(encoder)
    }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        var picture = unsafe WebPPicture()
        guard unsafe WebPPictureInit(&picture) != 0 else { throw .encodingFailed(.webp, "another version of libwebp") }
        defer { unsafe WebPPictureFree(&picture) }
        unsafe picture.use_argb = 1
        unsafe picture.width = Int32(frame.width)
        unsafe picture.height = Int32(frame.height)
        let isImported = unsafe frame.bytes.withUnsafeBufferPointer { bytes in
            unsafe WebPPictureImportRGBA(&picture, bytes.baseAddress, Int32(frame.width * 4))
        }
        guard isImported != 0 else { throw .encodingFailed(.webp, "no memory for a frame") }
        guard let start = Int32(exactly: time) else { throw .encodingFailed(.webp, "it lasts for weeks") }
        guard unsafe WebPAnimEncoderAdd(encoder, &picture, start, &configuration) != 0 else { throw failure }
        time += Int(min((delay / .milliseconds(1)).rounded(), Double(Self.maximumDelay)))
    }

    func finish() throws(CodecError) -> [UInt8] {
        guard let end = Int32(exactly: time) else { throw .encodingFailed(.webp, "it lasts for weeks") }
        var file = unsafe WebPData()
        defer { unsafe WebPDataClear(&file) }
        guard unsafe WebPAnimEncoderAdd(encoder, nil, end, nil) != 0,
            unsafe WebPAnimEncoderAssemble(encoder, &file) != 0
        else { throw failure }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
    }

    private var failure: CodecError {
        let message = unsafe WebPAnimEncoderGetError(encoder).map { unsafe String(cString: $0) }
        return .encodingFailed(.webp, message ?? "the encoder failed")
    }
}
