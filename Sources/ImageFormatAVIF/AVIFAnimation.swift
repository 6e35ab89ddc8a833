#if AVIF
import ImageCodecs

/// Decodes the frames of a sequence, of which it holds the file.
@safe
final class AVIFAnimation: WholeFileAnimation {
    /// A copy that stays in its place, to which the decoder refers.
    private let file: UnsafeMutableBufferPointer<UInt8>
    private var decoder: AVIFDecoder?
    private let size: PixelSize
    let delays: [Duration]
    /// Sequences do not declare it in a way that libavif reports; they are played forever, as in browsers.
    let repetitionCount = 0

    init(_ bytes: [UInt8], size: PixelSize) throws(CodecError) {
        self.size = size
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe file.initialize(fromContentsOf: bytes)
        unsafe self.file = file
        do throws(CodecError) {
            let decoder = try unsafe AVIFDecoder(UnsafeBufferPointer(file))
            delays = try unsafe decoder.delays(in: UnsafeBufferPointer(file))
            self.decoder = decoder
        } catch {
            unsafe file.deallocate()
            throw error
        }
    }

    deinit {
        decoder = nil
        unsafe file.deallocate()
    }

    func decodeFrame(at index: Int, to rows: inout ImageRows) throws(CodecError) {
        try decoder?.decodeFrame(at: index)
        try decoder?.passRows(size, to: &rows)
    }
}
#endif
