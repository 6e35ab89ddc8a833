/// An image before the pixels of a lossless WebP, which is parsed without keeping its pixels.
struct LosslessPart {
    /// The exponents allowed for the size of a color cache, a power of two.
    static let cacheBits = 1...11
    private static let literals = 256
    private static let lengths = 24
    private static let distances = 40

    /// The colors of one or more pixels.
    enum Colors {
        /// A color that earlier pixels may not have; its value selects a group of codes.
        case new(group: Int)
        /// Colors of earlier pixels.
        case known
    }

    /// The number of pixels not yet read.
    private(set) var pixelsLeft: Int

    private let pixelCount: Int
    /// The codes for green (with lengths and cached colors), red, blue, alpha, and distances.
    private let codes: [PrefixCode]
    /// A Boolean value that indicates whether all pixels are the same, so that they take no bits.
    private let isPlain: Bool

    /// Reads the part before the pixels; returns `nil` if it is invalid.
    init?(pixels: Int, _ bits: inout LowBitReader, in bytes: Span<UInt8>) {
        pixelCount = pixels
        pixelsLeft = pixels
        var cached = 0
        if bits.read(1, in: bytes) == 1 {
            let cacheBits = bits.read(4, in: bytes)
            guard Self.cacheBits.contains(cacheBits) else { return nil }
            cached = 1 << cacheBits
        }
        var codes: [PrefixCode] = []
        let literals = Self.literals
        for symbols in [literals + Self.lengths + cached, literals, literals, literals, Self.distances] {
            guard let code = PrefixCode(symbols: symbols, &bits, in: bytes) else { return nil }
            codes.append(code)
        }
        self.codes = codes
        // If green is always a length, the first pixel is invalid.
        isPlain = codes[0].onlySymbol.map { $0 >= literals || codes[1...3].allSatisfy { $0.onlySymbol != nil } } == true
    }

    /// Reads the next pixel or pixels; returns `nil` without reading anything if more bytes are needed.
    ///
    /// Throws `corrupt`.
    mutating func next(_ bits: inout LowBitReader, in bytes: Span<UInt8>) throws(CodecError) -> Colors? {
        var next = bits
        let colors: Colors
        var count = isPlain ? pixelsLeft : 1
        let green = codes[0].next(&next, in: bytes)
        switch green {
        case ..<Self.literals:
            let red = codes[1].next(&next, in: bytes)
            _ = codes[2].next(&next, in: bytes)
            _ = codes[3].next(&next, in: bytes)
            colors = .new(group: red << 8 | green)
        case ..<(Self.literals + Self.lengths):
            count = Self.number(green - Self.literals, &next, in: bytes)
            _ = Self.number(codes[4].next(&next, in: bytes), &next, in: bytes)
            colors = .known
        // A color of an earlier pixel, or 0.
        default: colors = .new(group: 0)
        }
        guard !next.isPastEnd(of: bytes) else { return nil }
        if case .known = colors, pixelsLeft == pixelCount || count > pixelsLeft {
            throw .corrupt(.webp, "invalid image data")
        }
        pixelsLeft -= count
        bits = next
        return colors
    }

    /// Reads the length or distance that begins with `symbol`.
    private static func number(_ symbol: Int, _ bits: inout LowBitReader, in bytes: Span<UInt8>) -> Int {
        guard symbol >= 4 else { return symbol + 1 }
        let length = (symbol - 2) >> 1
        return (2 + symbol & 1) << length + bits.read(length, in: bytes) + 1
    }
}
