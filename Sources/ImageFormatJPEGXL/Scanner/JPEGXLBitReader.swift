#if JPEGXL
import ImageCodecs

/// The reason why a part of a codestream cannot be read.
enum JPEGXLInterruption: Error {
    /// The part ends after the bytes that have been received.
    case needsMoreBytes
    case failure(CodecError)

    static func corrupt(_ details: String) -> JPEGXLInterruption { .failure(.corrupt(.jpegXL, details)) }
}

/// Reads the bits of a codestream, the lowest of each byte first (ISO/IEC 18181-1, annex B).
struct JPEGXLBitReader {
    /// The received bytes, without those that have been removed.
    private(set) var bytes: [UInt8] = []
    /// The number of bits of `bytes` that have been read.
    private var position = 0

    mutating func append(_ piece: Span<UInt8>) { bytes.append(piece) }

    /// Removes the bytes that have been read completely, and appends them to `removed`.
    mutating func removeRead(appendingTo removed: inout [UInt8]) {
        let count = position >> 3
        guard count > 0 else { return }
        removed += bytes.prefix(count)
        bytes.removeFirst(count)
        position &= 7
    }

    /// Removes up to `count` bytes, which begin at the current position, appends them to `removed`, and returns their number.
    mutating func remove(_ count: Int, appendingTo removed: inout [UInt8]) -> Int {
        let removable = min(count, bytes.count)
        removed += bytes.prefix(removable)
        bytes.removeFirst(removable)
        return removable
    }

    /// Returns the next `count` bits, at most 32, as a number.
    mutating func read(_ count: Int) throws(JPEGXLInterruption) -> Int {
        guard count <= bytes.count * 8 - position else { throw .needsMoreBytes }
        var value = 0
        var length = 0
        while length < count {
            let offset = position & 7
            let taken = min(8 - offset, count - length)
            let bits = Int(bytes[position >> 3]) >> offset & (1 << taken - 1)
            value |= bits << length
            length += taken
            position += taken
        }
        return value
    }

    /// Returns whether the next bit is set.
    mutating func readFlag() throws(JPEGXLInterruption) -> Bool { try read(1) == 1 }

    mutating func skip(_ count: Int) throws(JPEGXLInterruption) {
        guard count <= bytes.count * 8 - position else { throw .needsMoreBytes }
        position += count
    }

    /// Skips the padding before the next byte.
    mutating func skipToByte() { position = (position + 7) & ~7 }

    /// A choice of a number: `bits` that are added to `base`.
    struct Range {
        let base: Int
        let bits: Int

        init(_ base: Int, bits: Int = 0) {
            self.base = base
            self.bits = bits
        }
    }

    /// Reads `U32`: two bits that choose a range, and the number.
    mutating func read(
        _ first: Range, _ second: Range, _ third: Range, _ fourth: Range
    ) throws(JPEGXLInterruption) -> Int {
        let range =
            switch try read(2) {
            case 0: first
            case 1: second
            case 2: third
            default: fourth
            }
        return try range.base + read(range.bits)
    }

    /// Reads `U64`: a number of up to 64 bits.
    mutating func readLong() throws(JPEGXLInterruption) -> UInt64 {
        switch try read(2) {
        case 0: return 0
        case 1: return try UInt64(1 + read(4))
        case 2: return try UInt64(17 + read(8))
        default: break
        }
        var value = UInt64(try read(12))
        var shift = 12
        while try readFlag() {
            let bits = shift == 60 ? 4 : 8
            value |= UInt64(try read(bits)) << UInt64(shift)
            shift += bits
            if shift == 64 { break }
        }
        return value
    }

    /// Reads `Enum`: a number below 64.
    mutating func readChoice() throws(JPEGXLInterruption) -> Int {
        try read(Range(0), Range(1), Range(2, bits: 4), Range(18, bits: 6))
    }

    /// Skips numbers of 16 bits, `F16`.
    mutating func skipReals(_ count: Int) throws(JPEGXLInterruption) { try skip(16 * count) }

    /// Skips the name of a frame or of a channel.
    mutating func skipName() throws(JPEGXLInterruption) {
        try skip(8 * read(Range(0), Range(0, bits: 4), Range(16, bits: 5), Range(48, bits: 10)))
    }

    /// Skips extensions, which no decoder knows.
    mutating func skipExtensions() throws(JPEGXLInterruption) {
        var total: UInt64 = 0
        for _ in 0..<(try readLong()).nonzeroBitCount {
            let (sum, overflow) = total.addingReportingOverflow(try readLong())
            guard !overflow else { throw .corrupt("extensions of any length") }
            total = sum
        }
        try skip(Int(clamping: total))
    }
}
#endif
