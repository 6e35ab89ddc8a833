#if JPEGXL
import ImageCodecs

/// The declarations of the head of a codestream about all of its frames (ISO/IEC 18181-1, annexes D and E).
struct JPEGXLImageFields {
    let size: PixelSize
    /// The size of a preview, which precedes the frames.
    private(set) var previewSize: PixelSize?
    private(set) var isAnimated = false
    /// The number of ticks of a second, as a fraction.
    private(set) var ticks = (numerator: 1, denominator: 1)
    private(set) var repetitionCount = 0
    private(set) var hasTimecodes = false
    private(set) var extraChannels = 0
    /// A Boolean value that indicates whether colors are stored as XYB.
    private(set) var isXYB = true
    private(set) var hasProfile = false

    init(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        guard try reader.read(16) == 0x0AFF else { throw .corrupt("no codestream") }
        size = try Self.size(&reader)
        if try !reader.readFlag() { try readProperties(&reader) }
        try skipTransform(&reader)
    }

    /// Reads `ImageMetadata`.
    private mutating func readProperties(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        let hasMore = try reader.readFlag()
        if hasMore {
            // The orientation.
            try reader.skip(3)
            if try reader.readFlag() { _ = try Self.size(&reader) }
            if try reader.readFlag() { previewSize = try Self.previewSize(&reader) }
            isAnimated = try reader.readFlag()
            if isAnimated { try readAnimation(&reader) }
        }
        try Self.skipDepth(&reader)
        // Whether 16 bits suffice for the modular mode.
        try reader.skip(1)
        extraChannels = try reader.read(.init(0), .init(1), .init(2, bits: 4), .init(1, bits: 12))
        for _ in 0..<extraChannels { try Self.skipChannel(&reader) }
        isXYB = try reader.readFlag()
        try readColors(&reader)
        if hasMore, try !reader.readFlag() {
            // The luminance.
            try reader.skipReals(2)
            try reader.skip(1)
            try reader.skipReals(1)
        }
        try reader.skipExtensions()
    }

    private static func size(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> PixelSize {
        let isSmall = try reader.readFlag()
        func side(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
            guard !isSmall else { return try 8 * (1 + reader.read(5)) }
            return try reader.read(.init(1, bits: 9), .init(1, bits: 13), .init(1, bits: 18), .init(1, bits: 30))
        }
        let height = try side(&reader)
        let ratio = try reader.read(3)
        return try PixelSize(width: ratio == 0 ? side(&reader) : width(height, ratio), height: height)
    }

    private static func previewSize(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> PixelSize {
        let isMultiple = try reader.readFlag()
        func side(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
            guard !isMultiple else {
                return try 8 * reader.read(.init(16), .init(32), .init(1, bits: 5), .init(33, bits: 9))
            }
            return try reader.read(.init(1, bits: 6), .init(65, bits: 8), .init(321, bits: 10), .init(1_345, bits: 12))
        }
        let height = try side(&reader)
        let ratio = try reader.read(3)
        return try PixelSize(width: ratio == 0 ? side(&reader) : width(height, ratio), height: height)
    }

    /// Returns the width for one of the common aspect ratios, which are numbered from 1.
    private static func width(_ height: Int, _ ratio: Int) -> Int {
        let (width, unit) = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)][ratio - 1]
        return height * width / unit
    }

    private mutating func readAnimation(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        ticks.numerator = try reader.read(.init(100), .init(1_000), .init(1, bits: 10), .init(1, bits: 30))
        ticks.denominator = try reader.read(.init(1), .init(1_001), .init(1, bits: 8), .init(1, bits: 10))
        repetitionCount = try reader.read(.init(0), .init(0, bits: 3), .init(0, bits: 16), .init(0, bits: 32))
        hasTimecodes = try reader.readFlag()
    }

    private static func skipDepth(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        let isFloatingPoint = try reader.readFlag()
        // The lengths of the first three are implied.
        _ = try reader.read(.init(0), .init(0), .init(0), .init(0, bits: 6))
        if isFloatingPoint { try reader.skip(4) }
    }

    private static func skipChannel(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        if try reader.readFlag() { return }
        let kind = try reader.readChoice()
        try skipDepth(&reader)
        _ = try reader.read(.init(0), .init(3), .init(4), .init(1, bits: 3))
        try reader.skipName()
        switch kind {
        // Alpha, which can be premultiplied.
        case 0: try reader.skip(1)
        // A spot color.
        case 2: try reader.skipReals(4)
        // A color filter array.
        case 5: _ = try reader.read(.init(1), .init(0, bits: 2), .init(3, bits: 4), .init(19, bits: 8))
        default: break
        }
    }

    private mutating func readColors(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        if try reader.readFlag() { return }
        hasProfile = try reader.readFlag()
        let space = try reader.readChoice()
        guard !hasProfile else { return }
        let (gray, xyb, custom) = (1, 2, 2)
        func skipPoints(_ count: Int, _ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
            for _ in 0..<2 * count {
                _ = try reader.read(.init(0, bits: 19), .init(0, bits: 19), .init(0, bits: 20), .init(0, bits: 21))
            }
        }
        if space != xyb, try reader.readChoice() == custom { try skipPoints(1, &reader) }
        if space != xyb, space != gray, try reader.readChoice() == custom { try skipPoints(3, &reader) }
        if space != xyb {
            if try reader.readFlag() { try reader.skip(24) } else { _ = try reader.readChoice() }
        }
        // The rendering intent.
        _ = try reader.readChoice()
    }

    /// Skips the matrix of XYB, and the weights for enlarging frames.
    private func skipTransform(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        if try reader.readFlag() { return }
        if isXYB, try !reader.readFlag() { try reader.skipReals(16) }
        let weights = try reader.read(3)
        if weights & 1 != 0 { try reader.skipReals(15) }
        if weights & 2 != 0 { try reader.skipReals(55) }
        if weights & 4 != 0 { try reader.skipReals(210) }
    }
}
#endif
