#if JPEGXL
import ImageCodecs

/// The header of a frame (ISO/IEC 18181-1, annex F).
struct JPEGXLFrameFields {
    /// The use of a frame, in the order of the numbers in a file.
    enum Kind: Int {
        case regular
        /// The image at 1/8 of its size or less, to which the other coefficients are added.
        case lowFrequency
        /// Only a source for others.
        case reference
        case notProgressive
    }

    private(set) var kind = Kind.regular
    private(set) var isModular = false
    private(set) var passes = 1
    /// The reduction of a frame of the kind `lowFrequency` is 8 to the power of this number.
    private(set) var level = 0
    /// The size of the frame, which can differ from that of the image.
    private(set) var size: PixelSize
    /// The time for which the frame is shown, in ticks; a frame of the duration 0 is a part of the next one.
    private(set) var duration = 0
    private(set) var isLast = true
    /// The place where the frame is kept for later ones.
    private(set) var slot: Int?
    /// The number of sections that contain the pixels.
    private(set) var sectionCount = 1

    /// A Boolean value that indicates whether the frame is shown, with those that it is combined with.
    var isShown: Bool {
        switch kind {
        case .regular, .notProgressive: isLast || duration > 0
        case .lowFrequency, .reference: false
        }
    }

    private var upsampling = 1
    private var groupShift = 1
    /// The reduction of the chroma, as powers of 2.
    private var chromaShift = (x: 0, y: 0)
    private var isPartial = false
    private var replaces = true

    /// Reads the header of a frame, or of the preview of an image.
    init(
        _ reader: inout JPEGXLBitReader, _ image: JPEGXLImageFields, canvas: PixelSize
    ) throws(JPEGXLInterruption) {
        size = canvas
        // Otherwise, everything has its default.
        if try !reader.readFlag() { try read(&reader, image, canvas) }
        if level > 0 {
            let shift = 3 * level
            size = PixelSize(
                width: (size.width + 1 << shift - 1) >> shift, height: (size.height + 1 << shift - 1) >> shift)
        }
        try countSections()
    }

    private mutating func read(
        _ reader: inout JPEGXLBitReader, _ image: JPEGXLImageFields, _ canvas: PixelSize
    ) throws(JPEGXLInterruption) {
        kind = Kind(rawValue: try reader.read(2)) ?? .regular
        isModular = try reader.readFlag()
        let usesLowFrequencies = try reader.readLong() & 32 != 0
        let isYCbCr = try image.isXYB ? false : reader.readFlag()
        if !usesLowFrequencies {
            if isYCbCr { try readChroma(&reader) }
            upsampling = try 1 << reader.read(2)
            try reader.skip(2 * image.extraChannels)
        }
        if isModular { groupShift = try reader.read(2) }
        if !isModular, image.isXYB { try reader.skip(6) }
        if kind != .reference { try readPasses(&reader) }
        if kind == .lowFrequency { level = try 1 + reader.read(2) }
        if kind != .lowFrequency, try reader.readFlag() { try readCrop(&reader, canvas) }
        switch kind {
        case .regular, .notProgressive: try readDisplay(&reader, image)
        case .lowFrequency, .reference: isLast = false
        }
        if kind != .lowFrequency, !isLast {
            let number = try reader.read(2)
            // The first place is also the number of shown frames that are not kept.
            if kind == .reference || duration == 0 || number != 0 { slot = number }
        }
        // Whether the frame is kept before the conversion of its colors.
        if kind == .reference || (slot != nil && replaces && !isPartial) { try reader.skip(1) }
        try reader.skipName()
        try skipFilter(&reader)
        try reader.skipExtensions()
    }

    private mutating func readChroma(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        for _ in 0..<3 {
            let mode = try reader.read(2)
            if mode == 1 || mode == 2 { chromaShift.x = 1 }
            if mode == 1 || mode == 3 { chromaShift.y = 1 }
        }
    }

    private mutating func readPasses(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        passes = try reader.read(.init(1), .init(2), .init(3), .init(4, bits: 3))
        guard passes > 1 else { return }
        let reductions = try reader.read(.init(0), .init(1), .init(2), .init(3, bits: 1))
        // The shift of each pass but the last, and the factors.
        try reader.skip(2 * (passes - 1) + 2 * reductions)
        for _ in 0..<reductions { _ = try reader.read(.init(0), .init(1), .init(2), .init(0, bits: 3)) }
    }

    private mutating func readCrop(
        _ reader: inout JPEGXLBitReader, _ canvas: PixelSize
    ) throws(JPEGXLInterruption) {
        func number(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) -> Int {
            try reader.read(.init(0, bits: 8), .init(256, bits: 11), .init(2_304, bits: 14), .init(18_688, bits: 30))
        }
        func signed(_ number: Int) -> Int { number & 1 == 0 ? number / 2 : -(number + 1) / 2 }
        let hasOrigin = kind != .reference
        let x = try hasOrigin ? signed(number(&reader)) : 0
        let y = try hasOrigin ? signed(number(&reader)) : 0
        let (width, height) = (try number(&reader), try number(&reader))
        if hasOrigin { isPartial = x > 0 || y > 0 || x + width < canvas.width || y + height < canvas.height }
        size = PixelSize(width: width > 0 ? width : canvas.width, height: height > 0 ? height : canvas.height)
    }

    /// Reads how a frame is combined with an earlier one, and for how long it is shown.
    private mutating func readDisplay(
        _ reader: inout JPEGXLBitReader, _ image: JPEGXLImageFields
    ) throws(JPEGXLInterruption) {
        for channel in 0...image.extraChannels {
            let (blend, weightedAdd, multiply) = (2, 3, 4)
            let mode = try reader.read(.init(0), .init(1), .init(2), .init(3, bits: 2))
            let usesAlpha = image.extraChannels > 0 && (mode == blend || mode == weightedAdd)
            if usesAlpha { _ = try reader.read(.init(0), .init(1), .init(2), .init(3, bits: 3)) }
            if usesAlpha || mode == multiply { try reader.skip(1) }
            // The source.
            if mode != 0 || isPartial { try reader.skip(2) }
            if channel == 0 { replaces = mode == 0 }
        }
        if image.isAnimated {
            duration = try reader.read(.init(0), .init(1), .init(0, bits: 8), .init(0, bits: 32))
            if image.hasTimecodes { try reader.skip(32) }
        }
        isLast = try reader.readFlag()
        // libjxl decodes further frames.
        if kind == .notProgressive { isLast = false }
    }

    /// Skips the smoothing of edges between blocks.
    private func skipFilter(_ reader: inout JPEGXLBitReader) throws(JPEGXLInterruption) {
        if try reader.readFlag() { return }
        if try reader.readFlag(), try reader.readFlag() { try reader.skipReals(6) }
        if try reader.read(2) > 0 {
            if !isModular, try reader.readFlag() { try reader.skipReals(8) }
            if try reader.readFlag() { try reader.skipReals(5) }
            if try reader.readFlag() { try reader.skipReals(isModular ? 3 : 4) }
            if isModular { try reader.skipReals(1) }
        }
        try reader.skipExtensions()
    }

    /// Counts the sections: groups of pixels in passes, groups of blocks, and two for the frame, or one for all of them.
    private mutating func countSections() throws(JPEGXLInterruption) {
        let side = 128 << groupShift
        func ceiling(_ value: Int, _ unit: Int) -> Int { (value + unit - 1) / unit }
        func blocks(_ value: Int, _ shift: Int) -> Int { ceiling(value, 8 << shift) << shift }
        let (width, height) = (ceiling(size.width, upsampling), ceiling(size.height, upsampling))
        let groups = ceiling(width, side) * ceiling(height, side)
        guard groups > 1 || passes > 1 else { return }
        let blockGroups = ceiling(blocks(width, chromaShift.x), side) * ceiling(blocks(height, chromaShift.y), side)
        // Each is at most the square of 2^24, and there are at most 11 passes.
        sectionCount = 2 + blockGroups + groups * passes
        // As in libjxl.
        guard sectionCount <= 1 << 16 else {
            throw .failure(.unsupportedFeature(.jpegXL, "a frame of \(sectionCount) sections"))
        }
    }
}
#endif
