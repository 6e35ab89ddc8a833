import CWebPWriter
import ImageCodecs

/// Writes animated WebP with libwebp, which detects changes between frames itself.
@safe
final class WebPAnimationWriter: AnimationWriter {
    /// The maximum delay in milliseconds; a frame's duration has 24 bits.
    private static let maximumDelay = 0xFF_FFFF

    private let encoder: OpaquePointer
    private let metadata: ImageMetadata
    private var configuration: WebPConfig
    /// The start time of the next frame, in milliseconds.
    private var time = 0

    init(
        size: PixelSize, repetitionCount: UInt16, options: WebPOptions, metadata: ImageMetadata
    ) throws(CodecError) {
        guard size.width <= WebPEncoder.maximumSide, size.height <= WebPEncoder.maximumSide else {
            throw .encodingFailed(.webp, "more than \(WebPEncoder.maximumSide) pixels on one side")
        }
        try metadata.check(.webp)
        self.metadata = metadata
        configuration = try WebPEncoder.configuration(options)
        var settings = WebPAnimEncoderOptions()
        guard unsafe WebPAnimEncoderOptionsInit(&settings) != 0 else {
            throw .encodingFailed(.webp, "incompatible libwebp")
        }
        settings.anim_params.loop_count = Int32(repetitionCount)
        guard let encoder = unsafe WebPAnimEncoderNew(Int32(size.width), Int32(size.height), &settings) else {
            throw .encodingFailed(.webp, "no memory for an encoder")
        }
        unsafe self.encoder = encoder
    }

    deinit {
        unsafe WebPAnimEncoderDelete(encoder)
    }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        var picture = try unsafe WebPEncoder.picture(of: frame, isARGB: true)
        defer { unsafe WebPPictureFree(&picture) }
        guard let start = Int32(exactly: time) else { throw .encodingFailed(.webp, "the animation is too long") }
        guard unsafe WebPAnimEncoderAdd(encoder, &picture, start, &configuration) != 0 else { throw failure }
        time += Int(min((delay / .milliseconds(1)).rounded(), Double(Self.maximumDelay)))
    }

    func finish() throws(CodecError) -> [UInt8] {
        guard let end = Int32(exactly: time) else { throw .encodingFailed(.webp, "the animation is too long") }
        var file = unsafe WebPData()
        defer { unsafe WebPDataClear(&file) }
        guard unsafe WebPAnimEncoderAdd(encoder, nil, end, nil) != 0,
            unsafe WebPAnimEncoderAssemble(encoder, &file) != 0
        else { throw failure }
        return try metadata.embedded(inWebP: unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.size)))
    }

    private var failure: CodecError {
        let message = unsafe WebPAnimEncoderGetError(encoder).map { unsafe String(cString: $0) }
        return .encodingFailed(.webp, message ?? "the encoder failed")
    }
}
