import CPNG

/// Decompresses the pixels of one image of a PNG, the main image or a frame, and discards them.
///
/// The zlib stream must contain all rows of the image, with known filters. What is wrong after the last row is a warning.
@safe
final class PNGPixelCheck {
    /// The maximum memory it holds, in bytes: zlib's window and state, and the latest output.
    static let workingBytes = 128 << 10

    private static let lastFilter = 4
    /// The first column and row of each pass of an interlaced image, and the distances between columns and rows.
    private static let passes: [(x: Int, y: Int, dx: Int, dy: Int)] = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]

    /// The deviations found so far.
    private(set) var warnings: Set<ImageWarning> = []

    private let inflater: OpaquePointer
    private let window: PNGWindowCheck
    /// A Boolean value that indicates whether what follows the last row cannot be read.
    private var isLost = false
    /// A Boolean value that indicates whether the data is broken behind the last row, which must also be the end of its
    /// chunk.
    private var isBroken = false
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
        window = PNGWindowCheck(
            outputLength: rows.reduce(0) { $0 + min($1.count, 1 << 20) * (min($1.bytes, 1 << 20) + 1) })
    }

    deinit {
        unsafe cpng_inflater_destroy(inflater)
    }

    /// Decompresses the next bytes of the stream.
    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        guard !isBroken || bytes.isEmpty else { throw .corrupt(.png, "image data that cannot be decompressed") }
        try window.append(bytes)
        if window.isTooSmall { warnings.insert(.smallWindow) }
        var rest = bytes
        while !rest.isEmpty, !isLost {
            guard !hasEnded else {
                warnings.insert(.extraBytes)
                return
            }
            rest = rest.extracting(droppingFirst: try inflate(rest).taken)
        }
        guard !isBroken || rest.isEmpty else { throw .corrupt(.png, "image data that cannot be decompressed") }
        // There can be more output than fits the buffer.
        while !hasEnded, !isLost, try inflate(rest).made > 0 {}
    }

    /// Ends a chunk of the stream.
    func endChunk() { isBroken = false }

    /// Ends the stream, which must contain the whole image.
    func finish() throws(CodecError) {
        guard isComplete else { throw .corrupt(.png, "the image data ends too early") }
        if !hasEnded, !isLost { warnings.insert(.missingChecksum) }
    }

    /// A Boolean value that indicates whether all rows have been received.
    var isComplete: Bool { rowLeft == 0 && rows.isEmpty }

    private var hasEnded: Bool { unsafe cpng_inflater_has_ended(inflater) }

    /// Decompresses the next bytes, and counts the output as rows.
    private func inflate(_ bytes: Span<UInt8>) throws(CodecError) -> (taken: Int, made: Int) {
        var (taken, made) = (bytes.count, output.count)
        let isSound = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe cpng_inflater_run(inflater, bytes.baseAddress, &taken, output.baseAddress, &made)
            }
        }
        // Even before an error: the rows in the output are correct.
        try pass(made)
        guard !isSound, !isLost else { return (taken, made) }
        guard isComplete else { throw .corrupt(.png, "image data that cannot be decompressed") }
        warnings.insert(.wrongChecksum)
        isLost = true
        isBroken = true
        return (taken, made)
    }

    /// Counts the first `count` bytes of the output as rows.
    private func pass(_ count: Int) throws(CodecError) {
        var offset = 0
        while offset < count {
            if rowLeft == 0 {
                guard let last = rows.indices.last else {
                    warnings.insert(.extraPixels)
                    isLost = true
                    return
                }
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
