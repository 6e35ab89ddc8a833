/// A prefix code of a lossless WebP: frequent symbols have shorter codes.
///
/// Takes up to 5 KB, for the largest alphabet of 2,328 symbols.
struct PrefixCode {
    private static let maximumLength = 15
    /// The order of the lengths of the code that encodes the code lengths.
    private static let lengthOrder = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]

    /// The number of symbols of each length.
    private var counts = [Int](repeating: 0, count: maximumLength + 1)
    /// The symbols, in the order of their codes.
    private var symbols: [UInt16]

    /// The only symbol, which takes no bits; `nil` if there are several.
    var onlySymbol: Int? { symbols.count == 1 ? Int(symbols[0]) : nil }

    /// Reads the code for an alphabet of `count` symbols; returns `nil` if it is invalid.
    init?(symbols count: Int, _ bits: inout LowBitReader, in bytes: Span<UInt8>) {
        var lengths = [UInt8](repeating: 0, count: count)
        if bits.read(1, in: bytes) == 1 {
            let hasSecond = bits.read(1, in: bytes) == 1
            let first = bits.read(bits.read(1, in: bytes) == 1 ? 8 : 1, in: bytes)
            let second = hasSecond ? bits.read(8, in: bytes) : first
            for symbol in [first, second] where symbol < count { lengths[symbol] = 1 }
        } else {
            var ofLengths = [UInt8](repeating: 0, count: Self.lengthOrder.count)
            for index in 0..<bits.read(4, in: bytes) + 4 {
                ofLengths[Self.lengthOrder[index]] = UInt8(bits.read(3, in: bytes))
            }
            guard let code = PrefixCode(lengths: ofLengths), code.read(&lengths, &bits, in: bytes) else { return nil }
        }
        self.init(lengths: lengths)
    }

    /// Creates the code whose symbols have these lengths, 0 for unused symbols; returns `nil` if it is incomplete.
    private init?(lengths: [UInt8]) {
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        symbols = []
        var free = 1
        for length in 1...Self.maximumLength where free >= 0 {
            free = free * 2 - counts[length]
            guard counts[length] > 0 else { continue }
            for symbol in lengths.indices where Int(lengths[symbol]) == length { symbols.append(UInt16(symbol)) }
        }
        guard symbols.count == 1 || !symbols.isEmpty && free == 0 else { return nil }
    }

    /// Reads the lengths of another code, which are encoded with this one; returns `false` if they are invalid.
    private func read(_ lengths: inout [UInt8], _ bits: inout LowBitReader, in bytes: Span<UInt8>) -> Bool {
        var left = lengths.count
        if bits.read(1, in: bytes) == 1 {
            left = 2 + bits.read(2 + 2 * bits.read(3, in: bytes), in: bytes)
            guard left <= lengths.count else { return false }
        }
        var symbol = 0
        var previous: UInt8 = 8
        while symbol < lengths.count, left > 0 {
            left -= 1
            let length = next(&bits, in: bytes)
            if length < 16 {
                lengths[symbol] = UInt8(length)
                symbol += 1
                if length > 0 { previous = UInt8(length) }
                continue
            }
            let repeats =
                switch length {
                case 16: 3 + bits.read(2, in: bytes)
                case 17: 3 + bits.read(3, in: bytes)
                default: 11 + bits.read(7, in: bytes)
                }
            guard repeats <= lengths.count - symbol else { return false }
            for index in symbol..<symbol + repeats { lengths[index] = length == 16 ? previous : 0 }
            symbol += repeats
        }
        return true
    }

    /// Reads the next symbol.
    func next(_ bits: inout LowBitReader, in bytes: Span<UInt8>) -> Int {
        if let onlySymbol { return onlySymbol }
        var window = bits.peek(Self.maximumLength, in: bytes)
        // The code so far, the first code of its length, and the number of symbols with shorter codes.
        var (code, first, shorter) = (0, 0, 0)
        for length in 1...Self.maximumLength {
            code = code << 1 | window & 1
            window >>= 1
            first <<= 1
            let count = counts[length]
            if code - first < count {
                bits.position += length
                return Int(symbols[shorter + code - first])
            }
            first += count
            shorter += count
        }
        return 0  // not reached, because the code is complete
    }
}
