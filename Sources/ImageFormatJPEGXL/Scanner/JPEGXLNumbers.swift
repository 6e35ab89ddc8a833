#if JPEGXL
import ImageCodecs

/// A sequence of coded numbers in front of the pixels, whose end is known only once they are decoded.
protocol JPEGXLNumbers {
    /// Reads the numbers that have been received; throws `needsMoreBytes` until all of them have.
    mutating func read(from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption)
}

/// The color profile of an image (ISO/IEC 18181-1, annex E).
struct JPEGXLProfileNumbers: JPEGXLNumbers {
    /// The maximum size of a profile, which libjxl decodes to memory, in bytes.
    static let maximumBytes = 4 << 20

    private var numbers: JPEGXLNumberReader
    private let count: Int
    private var index = 0
    /// The two latest numbers.
    private var (last, secondLast) = (0, 0)
    /// The declared size of the profile, with which the numbers begin, and the bits of it that have been read.
    private var size = 0
    private var sizeBits: Int? = 0

    init(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        let count = try reader.readLong()
        guard count <= Self.maximumBytes else { throw Self.tooLarge }
        self.count = Int(count)
        let code = try JPEGXLEntropyCode(contexts: 41, from: &reader)
        numbers = try JPEGXLNumberReader(code, from: &reader)
    }

    private static var tooLarge: JPEGXLInterruption {
        .failure(.unsupportedFeature(.jpegXL, "a color profile of more than \(maximumBytes) bytes"))
    }

    mutating func read(from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        while index < count {
            let number = try numbers.next(context: context, from: &reader) & 0xFF
            index += 1
            (last, secondLast) = (number, last)
            if let bits = sizeBits {
                size |= (number & 0x7F) << bits
                guard size <= Self.maximumBytes else { throw Self.tooLarge }
                // A longer number would be too large, or have zeros in front.
                sizeBits = number < 0x80 || bits > 49 ? nil : bits + 7
            }
        }
        try numbers.checkEnd()
    }

    private var context: Int {
        index <= 128 ? 0 : 1 + Self.lastKind(last) + 8 * Self.secondLastKind(secondLast)
    }

    private static func isLetter(_ byte: Int) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }

    /// Returns whether a byte is a digit, a period, or a comma.
    private static func isNumeric(_ byte: Int) -> Bool { (48...57).contains(byte) || byte == 46 || byte == 44 }

    private static func lastKind(_ byte: Int) -> Int {
        if isLetter(byte) { return 0 }
        if isNumeric(byte) { return 1 }
        switch byte {
        case 0: return 2
        case 1: return 3
        case 2..<16: return 4
        case 241..<255: return 5
        case 255: return 6
        default: return 7
        }
    }

    private static func secondLastKind(_ byte: Int) -> Int {
        if isLetter(byte) { return 0 }
        if isNumeric(byte) { return 1 }
        return byte < 16 ? 2 : byte > 240 ? 3 : 4
    }
}

/// The order of the sections of a frame (ISO/IEC 18181-1, annex F).
struct JPEGXLSectionOrder: JPEGXLNumbers {
    private var numbers: JPEGXLNumberReader
    private let sections: Int
    /// The number of sections up to the last one that is in another place.
    private var count: Int?
    private var index = 0
    private var last = 0

    init(of sections: Int, _ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        self.sections = sections
        let code = try JPEGXLEntropyCode(contexts: 8, from: &reader)
        numbers = try JPEGXLNumberReader(code, from: &reader)
    }

    mutating func read(from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        if count == nil { count = try numbers.next(context: Self.context(sections), from: &reader) }
        guard let count, count <= sections else { throw .corrupt("an order of sections") }
        while index < count {
            last = try numbers.next(context: Self.context(last), from: &reader)
            guard last < sections - index else { throw .corrupt("an order of sections") }
            index += 1
        }
        try numbers.checkEnd()
    }

    private static func context(_ number: Int) -> Int { min(Int.bitWidth - number.leadingZeroBitCount, 7) }
}
#endif
