/// Writing of animations; reading gives their first frame only.
public enum AnimatedGIF: Sendable {
    /// A GIF that shows `frames`, all of the same size, one after the other.
    ///
    /// Each frame is shown for `delay`, rounded to hundredths of a second, and the animation `loopCount` times, 0 being
    /// without end. A frame has a palette of its own: its colours if there are no more than 255, else a choice of them;
    /// pixels with less than half alpha become transparent. Throws `encodingFailed` without frames, for sides above
    /// 65,535 and for frames of different sizes.
    public static func encode(
        frames: [PixelBuffer], delay: Duration, loopCount: Int = 0
    ) throws(CodecError) -> [UInt8] {
        guard let size = frames.first?.size, size.area > 0 else { throw .encodingFailed(.gif, "it has no pixels") }
        guard frames.allSatisfy({ $0.size == size }) else {
            throw .encodingFailed(.gif, "its frames are of different sizes")
        }
        guard size.width <= 65_535, size.height <= 65_535 else {
            throw .encodingFailed(.gif, "more than 65535 pixels a side")
        }
        let hundredths = (delay / .milliseconds(10)).rounded()
        let writer = try GIFWriter(size: size)
        if loopCount != 1 {
            // The file counts repetitions, 0 being without end.
            try writer.writeLoop(repetitions: UInt16(clamping: max(loopCount, 1) - 1))
        }
        for frame in frames {
            try writer.write(
                try GIFPalette(frame), size: size, delay: UInt16(min(max(hundredths, 0), 65_535)))
        }
        return try writer.finish()
    }
}
