#if JPEGXL
/// A prefix code for the symbols of a distribution (ISO/IEC 18181-1, annex C), as in Brotli.
struct JPEGXLPrefixCode {
    private static let maximumLength = 15

    /// The symbols by the lengths of their codes, and then by value.
    private let symbols: [UInt16]
    /// The number of codes of each length; none of a length above 0 if there is one symbol, whose code has no bits.
    private let counts: [Int]

    /// Reads the code of an alphabet of `size` symbols.
    init(alphabetSize size: Int, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        guard size > 1 else {
            self.init(ordered: [0], lengths: [0])
            return
        }
        let skipped = try reader.read(2)
        if skipped == 1 {
            try self.init(simpleOf: size, from: &reader)
        } else {
            let lengths = try Self.lengths(of: size, Self.codeOfLengths(skipping: skipped, &reader), &reader)
            self.init(lengths: lengths)
        }
    }

    /// Creates the code whose symbols have codes of `lengths`, where 0 means that a symbol does not occur.
    private init(lengths: [Int]) {
        let used = lengths.indices.filter { lengths[$0] > 0 }
        let ordered = used.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        self.init(ordered: ordered, lengths: ordered.map { lengths[$0] })
    }

    private init(ordered: [Int], lengths: [Int]) {
        symbols = ordered.map { UInt16(truncatingIfNeeded: $0) }
        var counts = [Int](repeating: 0, count: Self.maximumLength + 1)
        for length in lengths { counts[length] += 1 }
        self.counts = counts
    }

    /// Reads a list of up to four symbols.
    private init(simpleOf size: Int, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        let bits = Int.bitWidth - (size - 1).leadingZeroBitCount
        let count = try 1 + reader.read(2)
        var ordered: [Int] = []
        for _ in 0..<count {
            let symbol = try reader.read(bits)
            guard symbol < size, !ordered.contains(symbol) else { throw .corrupt("a prefix code") }
            ordered.append(symbol)
        }
        switch count {
        case 1: self.init(ordered: ordered, lengths: [0])
        case 2: self.init(ordered: ordered.sorted(), lengths: [1, 1])
        case 3: self.init(ordered: ordered.prefix(1) + ordered.suffix(2).sorted(), lengths: [1, 2, 2])
        default:
            if try reader.readFlag() {
                self.init(ordered: ordered.prefix(2) + ordered.suffix(2).sorted(), lengths: [1, 2, 3, 3])
            } else {
                self.init(ordered: ordered.sorted(), lengths: [2, 2, 2, 2])
            }
        }
    }

    /// Reads the code of the lengths of codes.
    private static func codeOfLengths(
        skipping skipped: Int, _ reader: inout JPEGXLBitReader
    ) throws(JPEGXLInterruption) -> JPEGXLPrefixCode {
        let order = [1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11, 12, 13, 14, 15]
        var lengths = [Int](repeating: 0, count: order.count)
        var space = 32
        for symbol in order.dropFirst(skipped) where space > 0 {
            let length = try length(&reader)
            lengths[symbol] = length
            if length > 0 { space -= 32 >> length }
        }
        let used = lengths.indices.filter { lengths[$0] > 0 }
        if used.count == 1 { return JPEGXLPrefixCode(ordered: used, lengths: [0]) }
        guard space == 0 else { throw .corrupt("a prefix code") }
        return JPEGXLPrefixCode(lengths: lengths)
    }

    /// Reads a length of up to 5 bits.
    private static func length(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
        switch try reader.read(2) {
        case 0: return 0
        case 1: return 4
        case 2: return 3
        default: break
        }
        if try !reader.readFlag() { return 2 }
        return try reader.readFlag() ? 5 : 1
    }

    /// Reads the lengths of the codes of `size` symbols, of which repetitions are stored as their numbers.
    private static func lengths(
        of size: Int, _ code: JPEGXLPrefixCode, _ reader: inout JPEGXLBitReader
    ) throws(JPEGXLInterruption) -> [Int] {
        let repeatsLast = 16
        var lengths: [Int] = []
        var space = 1 << maximumLength
        var (last, repeated, count) = (8, 0, 0)
        while lengths.count < size, space > 0 {
            let symbol = try code.read(from: &reader)
            guard symbol >= repeatsLast else {
                count = 0
                lengths.append(symbol)
                if symbol > 0 {
                    last = symbol
                    space -= (1 << maximumLength) >> symbol
                }
                continue
            }
            let value = symbol == repeatsLast ? last : 0
            if repeated != value { (repeated, count) = (value, 0) }
            let earlier = count
            // Successive repetitions are the digits of one number.
            if count > 0 { count = (count - 2) << (symbol - 14) }
            count += try reader.read(symbol - 14) + 3
            guard count - earlier <= size - lengths.count else { throw .corrupt("a prefix code") }
            lengths += repeatElement(value, count: count - earlier)
            if value > 0 { space -= (count - earlier) << (maximumLength - value) }
        }
        guard space == 0 else { throw .corrupt("a prefix code") }
        return lengths
    }

    /// Reads a symbol.
    func read(from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
        guard symbols.count > 1 else { return Int(symbols[0]) }
        var (code, first, index) = (0, 0, 0)
        for length in 1...Self.maximumLength {
            code |= try reader.read(1)
            if code - first < counts[length] { return Int(symbols[index + code - first]) }
            index += counts[length]
            first = (first + counts[length]) << 1
            code <<= 1
        }
        throw .corrupt("a prefix code")
    }
}
#endif
