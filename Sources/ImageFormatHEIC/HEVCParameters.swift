#if HEIC
import ImageCodecs

/// The size in a sequence parameter set of HEVC (ITU-T H.265, 7.3.2.2).
enum HEVCParameters {
    /// Returns the coded size in `unit`; `nil` if it is no sequence parameter set, or an incomplete one.
    static func size(_ unit: Span<UInt8>) -> PixelSize? {
        // Other layers are ignored by decoders.
        guard unit.count > 2, unit[0] & 0x7E == 33 << 1 else { return nil }
        // More than the part before the size has.
        var bits = BitReader(bytes: (2..<min(unit.count, 256)).map { unit[$0] })
        bits.skip(4)
        let layers = bits.read(3)
        bits.skip(1 + 88)  // the profile
        bits.skip(8)  // and its level
        if layers > 0 {
            var lengths: [Int] = []
            for _ in 0..<layers { lengths.append(bits.read(1) * 88 + bits.read(1) * 8) }
            bits.skip(2 * (8 - layers))
            for length in lengths { bits.skip(length) }
        }
        _ = bits.readNumber()
        if bits.readNumber() == 3 { bits.skip(1) }
        let size = PixelSize(width: bits.readNumber(), height: bits.readNumber())
        return bits.isAtEnd ? nil : size
    }

    /// Reads bits, without the bytes that prevent start codes.
    private struct BitReader {
        let bytes: [UInt8]
        private var position = 0
        private var zeros = 0
        private var byte: UInt8 = 0
        private var bitCount = 0
        /// A Boolean value that indicates whether bits were requested that do not exist.
        private(set) var isAtEnd = false

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func read(_ count: Int) -> Int {
            var value = 0
            for _ in 0..<count { value = value << 1 | nextBit() }
            return value
        }

        mutating func skip(_ count: Int) {
            for _ in 0..<count { _ = nextBit() }
        }

        /// Reads a number in Exp-Golomb code; large ones, which no size has, as the largest of 32 bits.
        mutating func readNumber() -> Int {
            var length = 0
            while !isAtEnd, nextBit() == 0 { length += 1 }
            guard length < 32 else { return 1 << 32 }
            return (1 << length) - 1 + read(length)
        }

        private mutating func nextBit() -> Int {
            if bitCount == 0 {
                if zeros >= 2, bytes.span.byte(at: position) == 3 {
                    position += 1
                    zeros = 0
                }
                guard let next = bytes.span.byte(at: position) else {
                    isAtEnd = true
                    return 0
                }
                position += 1
                zeros = next == 0 ? zeros + 1 : 0
                (byte, bitCount) = (UInt8(next), 8)
            }
            bitCount -= 1
            return Int(byte >> UInt8(bitCount)) & 1
        }
    }
}
#endif
