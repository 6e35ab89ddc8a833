import ImageTestSupport

/// Writes CMYK JPEGs by hand: blocks of 8 by 8 pixels, each of one color, preserved exactly.
enum TestCMYKJPEG {
    /// The declared meaning of the channels.
    enum Marker: UInt8, CaseIterable {
        /// Adobe's marker: cyan, magenta, yellow and black.
        case cmyk = 0
        /// Adobe's marker: the first three as luminance and two differences.
        case ycck = 2
        /// No marker, which the format takes for cyan, magenta, yellow and black.
        case none = 255
    }

    /// Returns a file of `blocks`, `width` of them in each row.
    ///
    /// A block has four bytes as in the file; 255 is the absence of a color.
    static func file(_ blocks: [[UInt8]], width: Int, marker: Marker = .cmyk) -> [UInt8] {
        let height = blocks.count / width
        var file: [UInt8] = [0xFF, 0xD8]
        if marker != .none {
            file += segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, marker.rawValue])
        }
        file += segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
        let size = [height >> 5, height * 8 & 255, width >> 5, width * 8 & 255].map { UInt8($0) }
        let channels: [UInt8] = [1, 2, 3, 4]
        file += segment(0xC0, [8] + size + [4] + channels.flatMap { [$0, 0x11, 0] })
        // Twelve lengths of differences, of four bits each; no detail but the end of the block, of one bit.
        file += segment(0xC4, [0x00, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + (0...11))
        file += segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
        file += segment(0xDA, [4] + channels.flatMap { [$0, 0] } + [0, 63, 0])
        return file + scan(blocks) + [0xFF, 0xD9]
    }

    private static func scan(_ blocks: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        func put(_ value: Int, _ length: Int) {
            bits = bits << length | value
            count += length
            while count >= 8 {
                let byte = UInt8(truncatingIfNeeded: bits >> (count - 8))
                bytes.append(byte)
                if byte == 0xFF { bytes.append(0) }
                count -= 8
            }
            bits &= (1 << count) - 1
        }
        var last = [0, 0, 0, 0]
        for block in blocks {
            for channel in 0..<4 {
                let mean = (Int(block[channel]) - 128) * 8
                let difference = mean - last[channel]
                last[channel] = mean
                let length = Int.bitWidth - abs(difference).leadingZeroBitCount
                put(length, 4)
                put(difference >= 0 ? difference : difference + (1 << length) - 1, length)
                put(0, 1)
            }
        }
        put((1 << 7) - 1, 7)  // the remainder of the last byte
        return bytes
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }
}
