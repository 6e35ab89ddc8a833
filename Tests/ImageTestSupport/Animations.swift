package import ImageCodecs
import ImageEncoders

/// `frames` one after the other, each shown for `delay`.
package func animation(
    of frames: [PixelBuffer], as format: ImageFormat, delay: Duration = .milliseconds(200), repetitionCount: Int = 0,
    quality: Int = 85
) throws(CodecError) -> [UInt8] {
    let size = frames.first?.size ?? PixelSize(width: 1, height: 1)
    let encoder = try AnimationEncoder(format: format, size: size, repetitionCount: repetitionCount, quality: quality)
    for frame in frames { try encoder.append(frame, delay: delay) }
    return try encoder.finish()
}

extension AnimatedImage {
    /// All frames, decoded in order.
    package func allFrames() throws(CodecError) -> [PixelBuffer] {
        let decoder = AnimationDecoder(self, windowBytes: 0)
        var frames: [PixelBuffer] = []
        for index in 0..<frameCount { frames.append(try decoder.frame(at: index)) }
        return frames
    }

    /// The display time of each frame.
    package var delays: [Duration] { (0..<frameCount).map(delay(at:)) }
}
