extension WebPAnimationParser {
    /// Returns a file that contains the chunks of the frame.
    static func still(_ frame: StoredFrame, of index: AnimationIndex) -> [UInt8] {
        var still = Array("RIFF".utf8)
        for shift in [0, 8, 16, 24] { still.append(UInt8(truncatingIfNeeded: (frame.data.count + 4) >> shift)) }
        still += Array("WEBP".utf8)
        return still + frame.data
    }
}
