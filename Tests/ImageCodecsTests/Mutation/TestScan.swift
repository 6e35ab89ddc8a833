import ImageTestSupport

/// Handmade baseline JPEGs with features that our encoder does not write: CMYK, restart markers, profiles.
///
/// Each block has only a DC coefficient.
struct TestScan {
    var width: Int
    var height: Int
    var channels = 3
    /// Blocks of all channels between two restart markers; 0 writes none.
    var restartInterval = 0
    /// A Boolean value that indicates whether a byte of ones follows blocks that end with a byte, as some encoders write.
    var padsWholeBytes = false
    /// Segments behind the start of the image, with their markers.
    var segments: [[UInt8]] = []

    /// A segment with this marker's second byte.
    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }

    func file() -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8] + segments.flatMap(\.self)
        bytes += Self.segment(0xDB, [0] + [UInt8](repeating: 8, count: 64))
        let identifiers = (1...UInt8(channels)).map { [$0, 0x11, 0] }
        let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
        bytes += Self.segment(0xC0, [8] + size + [UInt8(channels)] + identifiers.flatMap(\.self))
        // Twelve lengths of a mean, of four bits each; one code of one bit for the end of a block.
        bytes += Self.segment(0xC4, [0, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + Array(0..<12))
        bytes += Self.segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
        if restartInterval > 0 { bytes += Self.segment(0xDD, [0, UInt8(restartInterval)]) }
        bytes += Self.segment(
            0xDA, [UInt8(channels)] + (1...UInt8(channels)).flatMap { [$0, 0] } + [0, 63, 0])
        return bytes + data() + [0xFF, 0xD9]
    }

    private func data() -> [UInt8] {
        let blocks = (width + 7) / 8 * ((height + 7) / 8)
        var data: [UInt8] = []
        var bits: [UInt8] = []
        func flush() {
            if padsWholeBytes, bits.count % 8 == 0 { bits += [UInt8](repeating: 1, count: 8) }
            while bits.count % 8 != 0 { bits.append(1) }
            for start in stride(from: 0, to: bits.count, by: 8) {
                let byte = bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
                data += byte == 0xFF ? [0xFF, 0] : [byte]
            }
            bits = []
        }
        var means = [Int](repeating: 0, count: channels)
        for block in 0..<blocks {
            if restartInterval > 0, block > 0, block % restartInterval == 0 {
                flush()
                data += [0xFF, 0xD0 + UInt8((block / restartInterval - 1) % 8)]
                means = [Int](repeating: 0, count: channels)
            }
            for channel in 0..<channels {
                let mean = (block * 37 + channel * 50) % 200 - 100
                let difference = mean - means[channel]
                means[channel] = mean
                var length = 0
                while abs(difference) >> length > 0 { length += 1 }
                let code = difference < 0 ? difference + 1 << length - 1 : difference
                for bit in (0..<4).reversed() { bits.append(UInt8(length >> bit & 1)) }
                for bit in (0..<length).reversed() { bits.append(UInt8(code >> bit & 1)) }
                bits.append(0)
            }
        }
        flush()
        return data
    }
}
