import ImageCodecs
import ImageTestSupport

/// Writes PNG files by hand, in every shape the format allows, uncompressed inside of deflate.
struct TestPNG {
    /// An image of samples as stored, `channels` per pixel.
    struct Image {
        var width: Int
        var height: Int
        var depth: Int
        var colorType: UInt8
        /// The samples, row by row and pixel by pixel, each a number of `depth` bits.
        var samples: [Int]

        var channels: Int { [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][Int(colorType)] ?? 0 }
    }

    /// Chunks between `IHDR` and the image data, and behind it.
    var before: [[UInt8]] = []
    var after: [[UInt8]] = []
    var isInterlaced = false

    func file(_ image: Image) -> [UInt8] {
        var header = Self.number(image.width) + Self.number(image.height)
        header += [UInt8(image.depth), image.colorType, 0, 0, isInterlaced ? 1 : 0]
        let body = before + [Self.chunk("IDAT", data(of: image))] + after
        return Self.signature + Self.chunk("IHDR", header) + body.flatMap(\.self) + Self.chunk("IEND", [])
    }

    /// The image in 8 bits per channel, interlaced.
    static func interlaced(_ pixels: PixelBuffer) -> [UInt8] {
        TestPNG(isInterlaced: true).file(
            Image(
                width: pixels.width, height: pixels.height, depth: 8, colorType: 6,
                samples: pixels.bytes.map { Int($0) }))
    }

    /// The content of `IDAT`.
    func data(of image: Image) -> [UInt8] {
        var data: [UInt8] = []
        let passes =
            isInterlaced
            ? [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
            : [(0, 0, 1, 1)]
        for (left, top, stepX, stepY) in passes where left < image.width {
            for y in stride(from: top, to: image.height, by: stepY) {
                data.append(0)  // no filter
                var bits = 0
                var byte = 0
                for x in stride(from: left, to: image.width, by: stepX) {
                    for channel in 0..<image.channels {
                        let sample = image.samples[(y * image.width + x) * image.channels + channel]
                        if image.depth == 16 {
                            data += [UInt8(sample >> 8), UInt8(sample & 255)]
                            continue
                        }
                        byte = byte << image.depth | sample
                        bits += image.depth
                        if bits == 8 {
                            data.append(UInt8(byte))
                            (bits, byte) = (0, 0)
                        }
                    }
                }
                if bits > 0 { data.append(UInt8(byte << (8 - bits))) }
            }
        }
        return Self.stored(data)
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(name.utf8) + data
        var crc = UInt32.max
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return number(data.count) + content + number(Int(~crc))
    }

    /// `data` as a zlib stream of stored blocks.
    static func stored(_ data: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var offset = 0
        repeat {
            let count = min(0xFFFF, data.count - offset)
            stream.append(offset + count == data.count ? 1 : 0)
            stream += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8 & 255)]
            stream += data[offset..<offset + count]
            offset += count
        } while offset < data.count
        var (low, high) = (1, 0)
        for byte in data {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return stream + number(high << 16 | low)
    }

    static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
