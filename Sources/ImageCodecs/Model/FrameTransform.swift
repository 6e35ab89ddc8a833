/// A change to the frames of an animation after they have been decoded.
package protocol FrameTransform: Sendable {
    /// The size of the changed frames.
    var outputSize: PixelSize { get }
    /// The maximum memory needed for changing a frame, in bytes.
    var workingBytes: Int { get }

    /// Returns the changed frame.
    func apply(to frame: consuming PixelBuffer) throws(CodecError) -> PixelBuffer
}
