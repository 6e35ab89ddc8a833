import CPNG

/// Decompresses the pixels of one image of a PNG, the main image or a frame, and discards them.
///
/// The zlib stream must be exactly as long as the image, with known filters and a correct checksum, and nothing may
/// follow it.
@safe
final class PNGPixelCheck {
    /// The maximum memory it holds, in bytes: zlib's window and state, and the latest output.
    static let workingBytes = 128 << 10

    private static let lastFilter = 4
    /// The first column and row of each pass of an interlaced image, and the distances between columns and rows.
    private static let passes: [(x: Int, y: Int, dx: Int, dy: Int)] = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]

    private let inflater: OpaquePointer
    private var output = [UInt8](repeating: 0, count: 32 << 10)
    /// The rows that have not begun, by pass: their number, and the bytes of each without its filter.
    private var rows: [(count: Int, bytes: Int)] = []
    /// The number of bytes left of the current row.
    private var rowLeft = 0

    /// Creates a check of an image of `size`.
    init(size: PixelSize, bitsPerPixel: Int, isInterlaced: Bool) throws(CodecError) {
        guard let inflater = unsafe cpng_inflater_create() else { throw .outOfMemory(.png) }
        unsafe self.inflater = inflater
        for pass in isInterlaced ? Self.passes : [(0, 0, 1, 1)] {
            let columns = (size.width - pass.x + pass.dx - 1) / pass.dx
            let count = (size.height - pass.y + pass.dy - 1) / pass.dy
            if columns > 0, count > 0 { rows.append((count, (columns * bitsPerPixel + 7) / 8)) }
        }
        rows.reverse()
    }

    deinit {
        unsafe cpng_inflater_destroy(inflater)
    }

    /// Decompresses the next bytes of the stream.
    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        var rest = bytes
        while !rest.isEmpty {
            guard !hasEnded else { throw .corrupt(.png, "bytes after the image data") }
            let (taken, made) = try inflate(rest)
            try pass(made)
            rest = rest.extracting(droppingFirst: taken)
        }
        // There can be more output than fits the buffer.
        while !hasEnded, case let (_, made) = try inflate(rest), made > 0 { try pass(made) }
    }

    /// Ends the stream, which must be complete.
    func finish() throws(CodecError) {
        guard hasEnded, rowLeft == 0, rows.isEmpty else { throw .corrupt(.png, "the image data ends too early") }
    }

    private var hasEnded: Bool { unsafe cpng_inflater_has_ended(inflater) }

    private func inflate(_ bytes: Span<UInt8>) throws(CodecError) -> (taken: Int, made: Int) {
        var (taken, made) = (bytes.count, output.count)
        let isSound = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe cpng_inflater_run(inflater, bytes.baseAddress, &taken, output.baseAddress, &made)
            }
        }
        guard isSound else { throw .corrupt(.png, "image data that cannot be decompressed") }
        return (taken, made)
    }

    /// Counts the first `count` bytes of the output as rows.
    private func pass(_ count: Int) throws(CodecError) {
        var offset = 0
        while offset < count {
            if rowLeft == 0 {
                guard let last = rows.indices.last else { throw .corrupt(.png, "more image data than pixels") }
                guard output[offset] <= Self.lastFilter else { throw .corrupt(.png, "an unknown filter") }
                offset += 1
                rowLeft = rows[last].bytes
                rows[last].count -= 1
                if rows[last].count == 0 { rows.removeLast() }
            }
            let step = min(rowLeft, count - offset)
            rowLeft -= step
            offset += step
        }
    }
}
