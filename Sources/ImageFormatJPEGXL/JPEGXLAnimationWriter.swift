#if JPEGXL
import ImageCodecs
import ImageEncoders

/// Writes animations: each frame is the rectangle that has changed.
///
/// Holds one frame back, because libjxl must know which one is the last.
final class JPEGXLAnimationWriter: AnimationWriter {
    /// A frame that has not been passed to libjxl.
    private struct HeldFrame {
        let pixels: PixelBuffer
        /// Its part of the image; `nil` for all of it.
        let place: PixelRectangle?
        let milliseconds: Int
    }

    private let writer: JPEGXLWriter
    private var file: [UInt8] = []
    private var held: HeldFrame?
    /// The whole frame that was added last.
    private var last: PixelBuffer?

    init(_ writer: JPEGXLWriter) {
        self.writer = writer
    }

    /// Without the frame that is held back.
    var byteCount: Int { file.count }

    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError) {
        if Task.isCancelled { throw .cancelled(.jpegXL) }
        try writeHeld()
        try writer.takeOutput(to: &file)
        let place = last.map { frame.difference(from: $0) }
        // A frame without a duration would be a part of the next one.
        let milliseconds = max(Int(min((delay / .milliseconds(1)).rounded(), Double(UInt32.max))), 1)
        held = HeldFrame(
            pixels: place.map { frame.cropped(to: $0) } ?? frame, place: place, milliseconds: milliseconds)
        last = frame
    }

    func finish() throws(CodecError) -> [UInt8] {
        last = nil
        try writeHeld()
        writer.close()
        try writer.takeOutput(to: &file)
        return file
    }

    private func writeHeld() throws(CodecError) {
        guard let held else { return }
        self.held = nil
        try writer.addFrame(held.pixels, isOpaque: false, place: held.place, ticks: held.milliseconds)
    }
}
#endif
