#if JPEGXL
/// The distributions of a sequence of numbers, which depend on contexts (ISO/IEC 18181-1, annex C).
struct JPEGXLEntropyCode {
    /// How a symbol and the bits that follow it form a number.
    struct NumberFormat {
        private let splitExponent: Int
        private let highBits: Int
        private let lowBits: Int

        /// Reads the format of an alphabet of 2 to the power of `bits` symbols.
        init(alphabetBits bits: Int, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
            func width(_ count: Int) -> Int { Int.bitWidth - count.leadingZeroBitCount }
            splitExponent = try reader.read(width(bits))
            guard splitExponent != bits else {
                (highBits, lowBits) = (0, 0)
                return
            }
            highBits = try reader.read(width(splitExponent))
            guard highBits <= splitExponent else { throw .corrupt("a format of numbers") }
            lowBits = try reader.read(width(splitExponent - highBits))
            guard highBits + lowBits <= splitExponent else { throw .corrupt("a format of numbers") }
        }

        /// Reads the bits that follow `symbol`, and returns the number.
        func read(_ symbol: Int, from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
            guard symbol >= 1 << splitExponent else { return symbol }
            let known = highBits + lowBits
            let count = splitExponent - known + (symbol - 1 << splitExponent) >> known
            guard count < 30 else { throw .corrupt("a number of too many bits") }
            let high = 1 << highBits | symbol >> lowBits & (1 << highBits - 1)
            let number = try (high << count | reader.read(count)) << lowBits | symbol & (1 << lowBits - 1)
            guard number <= UInt32.max else { throw .corrupt("a number of too many bits") }
            return number
        }
    }

    /// How repetitions of earlier numbers are stored.
    struct Repetition {
        /// The first symbol that stands for a length.
        let minimumSymbol: Int
        let minimumLength: Int
        let lengths: NumberFormat

        init?(from reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
            guard try reader.readFlag() else { return nil }
            minimumSymbol = try reader.read(.init(224), .init(512), .init(4_096), .init(8, bits: 15))
            minimumLength = try reader.read(.init(3), .init(4), .init(5, bits: 2), .init(9, bits: 8))
            lengths = try NumberFormat(alphabetBits: 8, from: &reader)
        }
    }

    private enum Distributions {
        case prefix([JPEGXLPrefixCode])
        case alias([JPEGXLAliasTable])
    }

    let repetition: Repetition?
    /// The number of the distribution of each context, and then of the distances of repetitions if there are any.
    let clusters: [Int]
    /// The formats of the distributions.
    let formats: [NumberFormat]
    private let distributions: Distributions

    /// A Boolean value that indicates whether symbols are decoded from a state.
    var hasState: Bool {
        if case .alias = distributions { true } else { false }
    }

    /// Reads the distributions of `contexts` contexts; the numbers of two of them cannot have repetitions.
    init(
        contexts: Int, allowsRepetition: Bool = true, from reader: inout JPEGXLBitReader
    ) throws(JPEGXLInterruption) {
        repetition = try Repetition(from: &reader)
        guard repetition == nil || allowsRepetition else { throw .corrupt("repetitions in a list of contexts") }
        let count = contexts + (repetition == nil ? 0 : 1)
        clusters = try count > 1 ? Self.clusters(count, &reader) : [0]
        let distributionCount = (clusters.max() ?? 0) + 1
        let usesPrefixes = try reader.readFlag()
        let bits = try usesPrefixes ? 15 : 5 + reader.read(2)
        var formats: [NumberFormat] = []
        for _ in 0..<distributionCount { formats.append(try NumberFormat(alphabetBits: bits, from: &reader)) }
        self.formats = formats
        guard usesPrefixes else {
            var tables: [JPEGXLAliasTable] = []
            for _ in 0..<distributionCount { tables.append(try JPEGXLAliasTable(bits: bits, from: &reader)) }
            distributions = .alias(tables)
            return
        }
        var sizes: [Int] = []
        for _ in 0..<distributionCount {
            let length = try reader.readFlag() ? reader.read(4) : nil
            sizes.append(try 1 + (length.map { bits in 1 << bits } ?? 0) + reader.read(length ?? 0))
        }
        guard sizes.allSatisfy({ $0 <= 1 << bits }) else { throw .corrupt("an alphabet of too many symbols") }
        var codes: [JPEGXLPrefixCode] = []
        for size in sizes { codes.append(try JPEGXLPrefixCode(alphabetSize: size, from: &reader)) }
        distributions = .prefix(codes)
    }

    /// Reads the numbers of the distributions of `count` contexts.
    private static func clusters(
        _ count: Int, _ reader: inout JPEGXLBitReader
    ) throws(JPEGXLInterruption) -> [Int] {
        var result: [Int] = []
        if try reader.readFlag() {
            let bits = try reader.read(2)
            for _ in 0..<count { result.append(try reader.read(bits)) }
        } else {
            let movesToFront = try reader.readFlag()
            let code = try JPEGXLEntropyCode(contexts: 1, allowsRepetition: count > 2, from: &reader)
            var numbers = try JPEGXLNumberReader(code, from: &reader)
            for _ in 0..<count { result.append(try numbers.next(context: 0, from: &reader)) }
            try numbers.checkEnd()
            guard result.allSatisfy({ $0 < 256 }) else { throw .corrupt("too many distributions") }
            if movesToFront { moveToFront(&result) }
        }
        guard Set(result).count == (result.max() ?? 0) + 1 else { throw .corrupt("distributions without a context") }
        return result
    }

    /// Replaces indices of a list of recent numbers by the numbers.
    private static func moveToFront(_ indices: inout [Int]) {
        var recent = Array(0..<256)
        for position in indices.indices {
            let number = recent.remove(at: indices[position])
            recent.insert(number, at: 0)
            indices[position] = number
        }
    }

    /// Reads a symbol of a distribution.
    func symbol(
        _ distribution: Int, _ state: inout UInt32, from reader: inout JPEGXLBitReader
    ) throws(JPEGXLInterruption) -> Int {
        switch distributions {
        case .prefix(let codes): return try codes[distribution].read(from: &reader)
        case .alias(let tables):
            let symbol = tables[distribution].symbol(&state)
            if state < 1 << 16 { state = try state << 16 | UInt32(truncatingIfNeeded: reader.read(16)) }
            return symbol
        }
    }
}
#endif
