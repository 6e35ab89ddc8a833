/// The channels of pixels that are numbers of up to 32 bits, given by masks.
struct BitmapChannels: Sendable {
    /// A channel: the position of its lowest bit, and its value for each possible number of up to 8 bits.
    private struct Channel: Sendable {
        let mask: UInt32
        let shift: UInt32
        let values: [UInt8]

        init(_ mask: UInt32, missing: UInt8) {
            self.mask = mask
            let width = mask.nonzeroBitCount
            // Of more than 8 bits, the highest are used.
            let used = min(width, 8)
            shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount + width - used)
            let maximum = 1 << used - 1
            values =
                mask == 0 ? [missing] : (0...maximum).map { UInt8(($0 * 255 + maximum / 2) / maximum) }
        }

        var isContiguous: Bool {
            mask == 0 || mask.leadingZeroBitCount + mask.trailingZeroBitCount + mask.nonzeroBitCount == 32
        }
    }

    private let channels: [Channel]

    init(red: UInt32, green: UInt32, blue: UInt32, alpha: UInt32) {
        channels = [red, green, blue].map { Channel($0, missing: 0) } + [Channel(alpha, missing: 255)]
    }

    var hasAlpha: Bool { channels[3].mask != 0 }

    /// A Boolean value that indicates whether the bits of each mask are adjacent.
    var areContiguous: Bool { channels.allSatisfy(\.isContiguous) }

    /// The number of bits of the widest color channel.
    var bitsPerChannel: Int { max(1, channels.map(\.mask.nonzeroBitCount).max() ?? 0) }

    /// Converts pixels of `bytesPerPixel` bytes to RGBA.
    func convert(_ row: Span<UInt8>, bytesPerPixel: Int, into target: inout [UInt8]) {
        var target = target.mutableSpan
        let count = min(row.count / bytesPerPixel, target.count / 4)
        let alpha = channels[3]
        // The most common layout by far.
        if bytesPerPixel >= 3, channels[0].mask == 0xFF0000, channels[1].mask == 0xFF00, channels[2].mask == 0xFF,
            alpha.mask == 0 || alpha.mask == 0xFF00_0000
        {
            for pixel in 0..<count {
                let (from, to) = (pixel * bytesPerPixel, pixel * 4)
                for channel in 0..<3 { target[to + channel] = row[from + 2 - channel] }
                target[to + 3] = alpha.mask == 0 ? 255 : row[from + 3]
            }
            return
        }
        for index in 0..<4 {
            let channel = channels[index]
            for pixel in 0..<count {
                var number: UInt32 = 0
                for byte in 0..<bytesPerPixel {
                    number |= UInt32(row[pixel * bytesPerPixel + byte]) << UInt32(byte * 8)
                }
                target[pixel * 4 + index] = channel.values[Int((number & channel.mask) >> channel.shift)]
            }
        }
    }
}
