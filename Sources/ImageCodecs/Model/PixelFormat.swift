/// The memory layout of the pixels of a ``PixelBuffer``.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
    /// Red, green, blue, and straight alpha, 8 bits each.
    case rgba8
    /// Red, green, blue, and alpha, with colors premultiplied by alpha, as most drawing libraries expect: `(color *
    /// alpha + 127) / 255`.
    case rgba8Premultiplied
    /// Blue, green, red, and straight alpha, 8 bits each, which Windows and video programs call BGRA or ARGB32.
    case bgra8
    /// Blue, green, red, and alpha, with colors premultiplied by alpha: ARGB32 in Cairo.
    case bgra8Premultiplied
    /// One byte: the luma of BT.601, `(19595 * red + 38470 * green + 7471 * blue + 32768) / 65536`.
    ///
    /// There is no alpha: transparent parts are blended over white.
    case gray8
    /// Red, green, blue, and straight alpha, 16 bits each, in the byte order of the machine.
    ///
    /// This format preserves all bits of a 16-bit PNG. 8-bit values are expanded, for example 255 to 65,535.
    case rgba16

    /// The number of bytes per pixel.
    public var bytesPerPixel: Int {
        switch self {
        case .gray8: 1
        case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied: 4
        case .rgba16: 8
        }
    }
}

extension PixelFormat {
    /// Converts a row of straight RGBA into `target`, which has room for as many pixels.
    func store(_ row: Span<UInt8>, into target: inout [UInt8]) {
        switch self {
        case .rgba8: target.replace(at: 0, with: row)
        case .bgra8: swapped(row, &target) { color, _ in color }
        case .rgba8Premultiplied:
            for pixel in stride(from: 0, to: row.count, by: 4) {
                let alpha = row[pixel + 3]
                for channel in pixel..<pixel + 3 { target[channel] = Self.premultiplied(row[channel], alpha) }
                target[pixel + 3] = alpha
            }
        case .bgra8Premultiplied: swapped(row, &target, Self.premultiplied)
        case .gray8:
            for pixel in 0..<row.count / 4 {
                let (red, green, blue) = (Int(row[pixel * 4]), Int(row[pixel * 4 + 1]), Int(row[pixel * 4 + 2]))
                let lightness = (19_595 * red + 38_470 * green + 7_471 * blue + 32_768) >> 16
                let alpha = Int(row[pixel * 4 + 3])
                target[pixel] = UInt8((lightness * alpha + 255 * (255 - alpha) + 127) / 255)
            }
        case .rgba16:
            // Times 257: both bytes are equal, regardless of byte order.
            for sample in 0..<row.count {
                target[sample * 2] = row[sample]
                target[sample * 2 + 1] = row[sample]
            }
        }
    }

    /// Returns straight red, green, blue, and alpha of the pixel at `offset`.
    package func load(_ bytes: Span<UInt8>, at offset: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        if self == .gray8 { return (bytes[offset], bytes[offset], bytes[offset], 255) }
        if self == .rgba16 {
            func byte(_ channel: Int) -> UInt8 { bytes.sample(at: offset + channel * 2).roundedToByte }
            return (byte(0), byte(1), byte(2), byte(3))
        }
        let alpha = bytes[offset + 3]
        let (first, green, last) = (bytes[offset], bytes[offset + 1], bytes[offset + 2])
        switch self {
        case .rgba8, .gray8, .rgba16: return (first, green, last, alpha)
        case .bgra8: return (last, green, first, alpha)
        case .rgba8Premultiplied:
            return (Self.straight(first, alpha), Self.straight(green, alpha), Self.straight(last, alpha), alpha)
        case .bgra8Premultiplied:
            return (Self.straight(last, alpha), Self.straight(green, alpha), Self.straight(first, alpha), alpha)
        }
    }

    @inline(__always)
    private func swapped(
        _ row: Span<UInt8>, _ target: inout [UInt8], _ color: (UInt8, UInt8) -> UInt8
    ) {
        for pixel in stride(from: 0, to: row.count, by: 4) {
            let alpha = row[pixel + 3]
            for channel in 0..<3 { target[pixel + channel] = color(row[pixel + 2 - channel], alpha) }
            target[pixel + 3] = alpha
        }
    }

    private static func premultiplied(_ color: UInt8, _ alpha: UInt8) -> UInt8 {
        UInt8((Int(color) * Int(alpha) + 127) / 255)
    }

    /// Returns the nearest color that `premultiplied` maps to this value.
    private static func straight(_ color: UInt8, _ alpha: UInt8) -> UInt8 {
        alpha == 0 ? 0 : UInt8(min(255, (Int(color) * 255 + Int(alpha) / 2) / Int(alpha)))
    }
}

extension Span<UInt8> {
    /// Returns the 16-bit value at `offset`, in the byte order of the machine.
    package func sample(at offset: Int) -> UInt16 {
        UInt16(littleEndian: UInt16(self[offset]) | UInt16(self[offset + 1]) << 8)
    }
}
