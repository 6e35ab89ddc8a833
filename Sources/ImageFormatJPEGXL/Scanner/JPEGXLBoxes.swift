#if JPEGXL
import ImageCodecs

/// Finds the codestream in a file, which consists of boxes (ISO/IEC 18181-2), or is the codestream.
struct JPEGXLBoxes {
    /// The first bytes of a box, without its contents, as far as they have been received.
    private var head: [UInt8] = []
    /// The number of bytes of the current box that have not been received.
    private var rest = 0
    private var isInCodestream = false
    private var isAtBeginning = true

    /// Returns the next bytes of the codestream in `piece`, from `start`, which is moved to their end; `nil` if there are
    /// no more.
    mutating func next(in piece: Span<UInt8>, from start: inout Int) throws(CodecError) -> Range<Int>? {
        while start < piece.count {
            if isAtBeginning {
                isAtBeginning = false
                if piece[start] == 0xFF { (rest, isInCodestream) = (.max, true) }
            }
            guard rest > 0 else {
                head.append(piece[start])
                start += 1
                try beginBox()
                continue
            }
            let first = start
            start += min(rest, piece.count - start)
            if rest < .max { rest -= start - first }
            if isInCodestream { return first..<start }
        }
        return nil
    }

    /// Begins a box if its head is complete.
    private mutating func beginBox() throws(CodecError) {
        guard let short = head.span.bigEndian32(at: 0), head.count >= 8 else { return }
        let isPart = head.span.has("jxlp", at: 4)
        // A part begins with its number.
        let length = (short == 1 ? 16 : 8) + (isPart ? 4 : 0)
        guard head.count == length else { return }
        var size = short
        if short == 1 {
            let (high, low) = (head.span.bigEndian32(at: 8) ?? 0, head.span.bigEndian32(at: 12) ?? 0)
            size = Int(clamping: UInt64(high) << 32 | UInt64(low))
        }
        guard short == 0 || size >= length else { throw .corrupt(.jpegXL, "a box of \(size) bytes") }
        // The last box can have no size.
        rest = short == 0 ? .max : size - length
        isInCodestream = isPart || head.span.has("jxlc", at: 4)
        head = []
    }
}
#endif
