#if TIFF
import ImageCodecs

/// Reads floating-point samples in the byte order of the machine (IEEE 754).
enum TIFFFloats {
    /// Returns the number of `width` bytes at `offset`, from 0 to 1; others are clamped, and what is no number is 0.
    static func value(in bytes: Span<UInt8>, at offset: Int, width: Int) -> Double {
        var bits: UInt64 = 0
        for index in 0..<width { bits |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        let value =
            switch width {
            case 2: half(UInt16(truncatingIfNeeded: bits).littleEndian)
            case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits).littleEndian))
            default: Double(bitPattern: bits.littleEndian)
            }
        return value > 0 ? min(value, 1) : 0
    }

    /// Returns a number of 16 bits: its sign, 5 bits of the exponent, and 10 of the significand.
    private static func half(_ bits: UInt16) -> Double {
        let significand = Double(bits & 0x3FF)
        let value: Double =
            switch bits >> 10 & 31 {
            case 0: significand / 0x1p24
            case 31: significand == 0 ? .infinity : .nan
            case let exponent:
                Double(sign: .plus, exponent: Int(exponent) - 15, significand: 1 + significand / 1_024)
            }
        return bits >> 15 == 0 ? value : -value
    }
}
#endif
