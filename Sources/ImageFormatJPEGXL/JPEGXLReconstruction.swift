#if JPEGXL
import CJXL
import ImageCodecs

/// Restores a JPEG from a JPEG XL file, in memory that grows up to a limit.
@safe
final class JPEGXLReconstruction {
    /// The bytes that are decoded at a time.
    private static let step = 1 << 20

    private let limit: Int
    private var memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes that libjxl has written.
    private var count = 0

    /// Creates the memory for a JPEG of which a file of `fileSize` bytes was made; it has at most `limit` bytes.
    init(of fileSize: Int, limit: Int) {
        self.limit = limit
        unsafe memory = .allocate(capacity: max(min(fileSize / 2 * 3 + 4 << 10, limit), 1))
    }

    deinit {
        unsafe memory.deallocate()
    }

    /// Returns the JPEG; `nil` if the file has no data from which it can be restored.
    func jpeg(from file: Span<UInt8>) throws(CodecError) -> [UInt8]? {
        let decoder = try JPEGXLDecoder(JXL_DEC_JPEG_RECONSTRUCTION, JXL_DEC_FULL_IMAGE)
        var isRestored = false
        var isComplete = false
        var rest = file
        while !rest.isEmpty, !isComplete {
            if Task.isCancelled { throw .cancelled(.jpegXL) }
            let piece = rest.extracting(first: Self.step)
            rest = rest.extracting(droppingFirst: piece.count)
            try decoder.append(piece) { (event) throws(CodecError) in
                switch event {
                case JXL_DEC_JPEG_RECONSTRUCTION:
                    isRestored = true
                    try receive(from: decoder)
                case JXL_DEC_JPEG_NEED_MORE_OUTPUT:
                    release(from: decoder)
                    try grow()
                    try receive(from: decoder)
                case JXL_DEC_FULL_IMAGE:
                    release(from: decoder)
                    isComplete = true
                // Pixels, which nothing precedes that describes a JPEG.
                default: isComplete = true
                }
                return !isComplete
            }
        }
        guard isComplete else { throw .truncated(.jpegXL) }
        return isRestored ? unsafe Array(memory.prefix(count)) : nil
    }

    private func receive(from decoder: JPEGXLDecoder) throws(CodecError) {
        let start = unsafe memory.baseAddress.map { unsafe $0 + count }
        try decoder.check(unsafe JxlDecoderSetJPEGBuffer(decoder.handle, start, memory.count - count))
    }

    private func release(from decoder: JPEGXLDecoder) {
        unsafe count = memory.count - JxlDecoderReleaseJPEGBuffer(decoder.handle)
    }

    private func grow() throws(CodecError) {
        guard unsafe memory.count < limit else { throw .overLimit(.bytes, value: limit + 1, limit: limit) }
        let larger = unsafe UnsafeMutableBufferPointer<UInt8>.allocate(capacity: min(memory.count * 2, limit))
        _ = unsafe larger.initialize(fromContentsOf: memory.prefix(count))
        unsafe memory.deallocate()
        unsafe memory = larger
    }
}
#endif
