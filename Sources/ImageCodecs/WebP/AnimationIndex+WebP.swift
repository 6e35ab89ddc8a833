extension AnimationIndex {
    /// The chunks of the frame in a file of their own.
    func webpStill(_ frame: StoredFrame) -> [UInt8] {
        var still = Array("RIFF".utf8)
        for shift in [0, 8, 16, 24] { still.append(UInt8(truncatingIfNeeded: (frame.data.count + 4) >> shift)) }
        still += Array("WEBP".utf8)
        return still + frame.data
    }
}
