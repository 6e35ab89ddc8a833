#if AVIF
import ImageCodecs
import ImageEncoders

/// Writes animations, of which libavif holds the compressed frames.
final class AVIFAnimationWriter: AnimationWriter {
    private let encoder: AVIFEncoderHandle
    private let metadata: ImageMetadata

    /// 0: libavif tells the length of the file only at its end.
    let byteCount = 0

    init(_ options: AVIFEncoder, metadata: ImageMetadata) throws(CodecError) {
        encoder = try AVIFEncoderHandle(options, isAnimated: true)
        self.metadata = metadata
    }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        if Task.isCancelled { throw .cancelled(.avif) }
        try encoder.add(frame, metadata, milliseconds: Int(min((delay / .milliseconds(1)).rounded(), 1e9)))
    }

    func finish() throws(CodecError) -> [UInt8] { try encoder.finish() }
}
#endif
