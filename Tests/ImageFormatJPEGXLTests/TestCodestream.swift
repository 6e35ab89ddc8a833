#if JPEGXL
@testable import ImageFormatJPEGXL

/// Writes codestreams of JPEG XL by the bit, whose pixels are zeros that no decoder understands.
struct TestCodestream {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    /// Begins an image of up to 512 pixels on a side, whose colors are not converted; it can declare a preview of 8x8
    /// pixels, an animation, or further channels, which are alpha.
    init(
        width: Int = 16, height: Int = 16, hasPreview: Bool = false, isAnimated: Bool = false, extraChannels: Int = 0,
        hasProfile: Bool = false
    ) {
        write(0x0AFF, 16)
        write(0, 1)
        write(0, 2)
        write(height - 1, 9)
        write(0, 3)
        write(0, 2)
        write(width - 1, 9)
        // The properties: the orientation, no intrinsic size.
        write(0, 1)
        write(1, 1)
        write(0, 4)
        write(hasPreview ? 1 : 0, 1)
        // 8x8 pixels, in steps of 1: 6 bits.
        if hasPreview {
            write(0, 1)
            write(0, 2)
            write(7, 6)
            write(1, 3)
        }
        write(isAnimated ? 1 : 0, 1)
        // 100 ticks, no repetitions, no time codes.
        if isAnimated { write(0, 7) }
        // 8 bits, of integers.
        write(0, 3)
        write(1, 1)
        write(extraChannels == 0 ? 0 : 3, 2)
        if extraChannels > 0 { write(extraChannels - 1, 12) }
        for _ in 0..<extraChannels { write(1, 1) }
        // No XYB; the colors, the luminance, no extensions, and no transform.
        write(0, 1)
        write(hasProfile ? 0 : 1, 1)
        if hasProfile {
            write(1, 1)
            write(0, 2)
        }
        write(1, 1)
        write(0, 2)
        write(1, 1)
        if !hasProfile { align() }
    }

    mutating func write(_ value: Int, _ count: Int) {
        for bit in 0..<count {
            if bitCount & 7 == 0 { bytes.append(0) }
            bytes[bitCount >> 3] |= UInt8(value >> bit & 1) << UInt8(bitCount & 7)
            bitCount += 1
        }
    }

    mutating func align() { bitCount = (bitCount + 7) & ~7 }

    /// Adds a profile of `count` coded bytes, which are all `byte`.
    mutating func addProfile(count: Int, byte: Int) {
        writeLong(count)
        // No repetitions, one distribution: a prefix code of one symbol, which is the byte.
        write(0, 1)
        write(1, 1)
        write(0, 2)
        write(1, 1)
        write(8, 4)
        write(0, 8)
        write(1, 1)
        write(7, 4)
        write(127, 7)
        write(1, 2)
        write(0, 2)
        write(byte, 8)
        align()
    }

    /// Adds a frame in the modular mode with groups of 1,024 pixels.
    mutating func addFrame(
        _ kind: JPEGXLFrameFields.Kind = .regular, width: Int? = nil, height: Int? = nil, extraChannels: Int = 0,
        duration: Int? = nil, isLast: Bool = false, slot: Int = 0, level: Int = 1, sections: [Int] = [4]
    ) {
        write(0, 1)
        write(kind.rawValue, 2)
        write(1, 1)
        // No flags, no YCbCr, no upsampling.
        write(0, 5 + 2 * extraChannels)
        write(3, 2)
        let isNormal = kind == .regular || kind == .notProgressive
        if kind != .reference { write(0, 2) }
        if kind == .lowFrequency { write(level - 1, 2) }
        if kind != .lowFrequency { write(width == nil ? 0 : 1, 1) }
        if let width, let height {
            // The origin.
            if isNormal { write(0, 20) }
            writeSide(width)
            writeSide(height)
        }
        if isNormal {
            // Replaces the pixels below. The frames of tests cover the image, or have the source 0.
            for _ in 0...extraChannels { write(0, 2) }
            if let duration {
                write(3, 2)
                write(duration, 32)
            }
            write(isLast ? 1 : 0, 1)
        }
        if kind != .lowFrequency, !isLast { write(slot, 2) }
        if kind == .reference || (isNormal && !isLast && ((duration ?? 0) == 0 || slot > 0)) { write(0, 1) }
        // No name, the default filter, no extensions, and sections in order.
        write(0, 2)
        write(1, 1)
        write(0, 3)
        align()
        for size in sections {
            write(0, 2)
            write(size, 10)
        }
        align()
        bytes += [UInt8](repeating: 0, count: sections.reduce(0, +))
        bitCount = bytes.count * 8
    }

    private mutating func writeSide(_ side: Int) {
        if side < 256 {
            write(0, 2)
            write(side, 8)
        } else if side < 2_304 {
            write(1, 2)
            write(side - 256, 11)
        } else if side < 18_688 {
            write(2, 2)
            write(side - 2_304, 14)
        } else {
            write(3, 2)
            write(side - 18_688, 30)
        }
    }

    private mutating func writeLong(_ value: Int) {
        write(3, 2)
        write(value & 0xFFF, 12)
        var shift = 12
        while value >> shift > 0 {
            write(1, 1)
            write(value >> shift & 0xFF, 8)
            shift += 8
        }
        write(0, 1)
    }

    /// Returns the codestream in a container, in two parts.
    func inContainer() -> [UInt8] {
        func box(_ name: String, _ contents: [UInt8]) -> [UInt8] {
            let size = contents.count + 8
            return [24, 16, 8, 0].map { UInt8(size >> $0 & 0xFF) } + Array(name.utf8) + contents
        }
        let middle = bytes.count / 2
        return box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl ".utf8) + [0, 0, 0, 0])
            + box("jxlp", [0, 0, 0, 0] + bytes[..<middle]) + box("free", [1, 2, 3])
            // A size of 64 bits.
            + [0, 0, 0, 1] + Array("jxlp".utf8) + [0, 0, 0, 0, 0, 0]
            + [8, 0].map { UInt8((bytes.count - middle + 20) >> $0 & 0xFF) } + [0x80, 0, 0, 1] + bytes[middle...]
    }
}
#endif
