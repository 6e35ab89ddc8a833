#if JPEGXL
/// A distribution of symbols for an asymmetric numeral system (ISO/IEC 18181-1, annex C).
struct JPEGXLAliasTable {
    /// The sum of the frequencies.
    private static let total = 1 << 12

    /// A part of the table, which belongs to the symbol of its number up to `cutoff`, and to another one from there.
    private struct Bucket {
        var cutoff: Int
        var other = 0
        var offset = 0
    }

    private var buckets: [Bucket]
    private let frequencies: [Int]
    private let bucketSize: Int

    /// Reads a distribution of at most 2 to the power of `bits` symbols.
    init(bits: Int, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        var frequencies = try Self.frequencies(&reader)
        guard frequencies.count <= 1 << bits else { throw .corrupt("a distribution of too many symbols") }
        frequencies += repeatElement(0, count: 1 << bits - frequencies.count)
        self.frequencies = frequencies
        bucketSize = Self.total >> bits
        buckets = frequencies.map { Bucket(cutoff: $0) }
        fillBuckets()
    }

    /// Distributes the frequencies among buckets of the same size.
    private mutating func fillBuckets() {
        if let only = frequencies.firstIndex(of: Self.total) {
            for index in buckets.indices {
                buckets[index] = Bucket(cutoff: 0, other: only, offset: index * bucketSize)
            }
            return
        }
        var larger = buckets.indices.filter { buckets[$0].cutoff > bucketSize }
        var smaller = buckets.indices.filter { buckets[$0].cutoff < bucketSize }
        // The sum of the frequencies is that of the sizes, so that there is a smaller bucket for each larger one.
        while let from = larger.popLast(), let to = smaller.popLast() {
            buckets[from].cutoff -= bucketSize - buckets[to].cutoff
            buckets[to].other = from
            buckets[to].offset = buckets[from].cutoff - buckets[to].cutoff
            if buckets[from].cutoff < bucketSize { smaller.append(from) }
            if buckets[from].cutoff > bucketSize { larger.append(from) }
        }
    }

    /// Returns the symbol of a state, which becomes the next one.
    func symbol(_ state: inout UInt32) -> Int {
        let value = Int(state) & (Self.total - 1)
        let (index, position) = (value / bucketSize, value % bucketSize)
        let bucket = buckets[index]
        let (symbol, offset) = position < bucket.cutoff ? (index, position) : (bucket.other, bucket.offset + position)
        // At most 2^12 times 2^20.
        state = UInt32(truncatingIfNeeded: frequencies[symbol] * Int(state >> 12) + offset)
        return symbol
    }

    /// Reads a number below 2 to the power of 8.
    private static func small(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
        guard try reader.readFlag() else { return 0 }
        let bits = try reader.read(3)
        return try reader.read(bits) + 1 << bits
    }

    private static func frequencies(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> [Int] {
        if try reader.readFlag() { return try simpleFrequencies(&reader) }
        guard try reader.readFlag() else { return try storedFrequencies(&reader) }
        let count = try small(&reader) + 1
        return (0..<count).map { total / count + ($0 < total % count ? 1 : 0) }
    }

    /// Reads one or two symbols, and the frequency of the first.
    private static func simpleFrequencies(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> [Int] {
        let hasTwo = try reader.readFlag()
        let first = try small(&reader)
        let second = try hasTwo ? small(&reader) : first
        guard hasTwo == (first != second) else { throw .corrupt("a distribution with one symbol twice") }
        var result = [Int](repeating: 0, count: max(first, second) + 1)
        result[first] = try hasTwo ? reader.read(12) : total
        if hasTwo { result[second] = total - result[first] }
        return result
    }

    /// Reads the frequencies, of which one of the highest magnitude is what remains.
    private static func storedFrequencies(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> [Int] {
        let repetition = 13
        var bits = 0
        while bits < 3, try reader.readFlag() { bits += 1 }
        let precision = try reader.read(bits) + 1 << bits - 1
        guard precision <= 13 else { throw .corrupt("a distribution of a high precision") }
        let count = try small(&reader) + 3
        // The magnitudes, and the lengths of repetitions where these begin.
        var magnitudes = [Int](repeating: 0, count: count)
        var repeated = [Int](repeating: 0, count: count)
        var omitted: Int?
        var index = 0
        while index < count {
            magnitudes[index] = try magnitude(&reader)
            if magnitudes[index] == repetition {
                repeated[index] = try small(&reader) + 4
                index += repeated[index]
            } else {
                if magnitudes[index] > omitted.map({ magnitudes[$0] }) ?? -1 { omitted = index }
                index += 1
            }
        }
        guard let omitted, omitted + 1 == count || repeated[omitted + 1] == 0 else {
            throw .corrupt("a distribution without symbols")
        }
        var result = [Int](repeating: 0, count: count)
        index = 0
        while index < count {
            if repeated[index] > 0 {
                let end = min(index + repeated[index], count)
                if index > 0 { for position in index..<end { result[position] = result[index - 1] } }
                index = end
                continue
            }
            let magnitude = magnitudes[index]
            if index != omitted, magnitude > 0 {
                let length = magnitude - 1
                let stored = max(0, min(length, precision - (12 - length) >> 1))
                result[index] = try 1 << length + reader.read(stored) << (length - stored)
            }
            index += 1
        }
        result[omitted] = total - result.reduce(0, +)
        guard result[omitted] > 0 else { throw .corrupt("a distribution of too many symbols") }
        return result
    }

    /// Reads the magnitude of a frequency, in a fixed prefix code: 0, the number of its bits, or 13 for a repetition.
    private static func magnitude(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
        switch try reader.read(3) {
        case 0: return 10
        case 2: return 7
        case 3: return try reader.readFlag() ? 1 : 3
        case 4: return 6
        case 5: return 8
        case 6: return 9
        case 7: return try reader.readFlag() ? 2 : 5
        default: break
        }
        if try reader.readFlag() { return 4 }
        if try reader.readFlag() { return 0 }
        if try reader.readFlag() { return 11 }
        return try reader.readFlag() ? 13 : 12
    }
}
#endif
