import ImageCodecs
import ImageEncoders
import ImageTestSupport

/// Lossless WebP bitstreams, all of whose pixels are 0, that choose groups of prefix codes for blocks of 4 x 4 pixels.
struct TestLossless {
    var width: Int
    var height: Int
    /// The groups that blocks choose in turn; there are codes for all up to the highest.
    var groups: [Int]

    /// Creates an image whose blocks choose `groupCount` different groups.
    init(width: Int, height: Int, groupCount: Int) {
        self.init(width: width, height: height, groups: Array(0..<groupCount))
    }

    init(width: Int, height: Int, groups: [Int]) {
        self.width = width
        self.height = height
        self.groups = groups
    }

    /// The number of blocks.
    var blockCount: Int { (width + 3) / 4 * ((height + 3) / 4) }

    /// The bitstream without its header, as in alpha chunks.
    var bitstream: [UInt8] {
        var bits = Bits()
        bits.write(0, 1)  // no transform
        bits.write(0, 1)  // no color cache
        bits.write(1, 1)  // blocks choose groups,
        bits.write(0, 3)  // those of 4 x 4 pixels
        bits.write(0, 1)  // the image of the groups has no color cache either
        bits.writeByteCode(symbols: 280)
        bits.writeByteCode(symbols: 256)
        for _ in 0..<3 { bits.writeCodeOfOneSymbol() }
        for block in 0..<blockCount {
            let group = groups[block % groups.count]
            bits.writeSymbol(UInt8(group & 255))
            bits.writeSymbol(UInt8(group >> 8))
        }
        for _ in 0..<((groups.max() ?? 0) + 1) * 5 { bits.writeCodeOfOneSymbol() }
        return bits.bytes
    }

    /// The `VP8L` chunk.
    var chunk: [UInt8] {
        let size = (width - 1) | (height - 1) << 14
        return Self.chunk("VP8L", [0x2F] + WebPRowDecoderTests.number(size, 4) + bitstream)
    }

    /// A file of the image alone.
    var file: [UInt8] { Self.file(chunk) }

    /// Returns a file whose alpha channel is the bitstream, and whose colors are lossy.
    func alphaFile() throws -> [UInt8] {
        let colors = try TestImages.drawing(width: width, height: height).encoded(as: .webp)
        let size = WebPRowDecoderTests.number(width - 1, 3) + WebPRowDecoderTests.number(height - 1, 3)
        let alpha = Self.chunk("ALPH", [1] + bitstream)
        return Self.file(Self.chunk("VP8X", [0x10, 0, 0, 0] + size) + alpha + colors.dropFirst(12))
    }

    /// Returns an animation of these frames, on a canvas of the size of the first one.
    static func animation(_ frames: [TestLossless]) -> [UInt8] {
        func size(_ frame: TestLossless) -> [UInt8] {
            WebPRowDecoderTests.number(frame.width - 1, 3) + WebPRowDecoderTests.number(frame.height - 1, 3)
        }
        var chunks = chunk("VP8X", [0x12, 0, 0, 0] + (frames.first.map(size) ?? []))
        chunks += chunk("ANIM", [0, 0, 0, 0, 0, 0])
        for frame in frames {
            chunks += chunk("ANMF", [0, 0, 0, 0, 0, 0] + size(frame) + [100, 0, 0, 0] + frame.chunk)
        }
        return file(chunks)
    }

    private static func file(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + WebPRowDecoderTests.number(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: data.count & 1)
        return Array(name.utf8) + WebPRowDecoderTests.number(data.count, 4) + data + padding
    }
}

/// Writes bits from the lowest of each byte on.
private struct Bits {
    private(set) var bytes: [UInt8] = []
    private var free = 0

    mutating func write(_ value: Int, _ count: Int) {
        for shift in 0..<count {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << (8 - free)
            free -= 1
        }
    }

    /// Writes a code for symbol 0 alone, which takes no bits.
    mutating func writeCodeOfOneSymbol() { write(1, 4) }

    /// Writes a code of 8 bits for each of the first 256 symbols.
    mutating func writeByteCode(symbols: Int) {
        write(0, 1)
        write(12 - 4, 4)  // lengths of 12 symbols: 17, 18, 0 to 5, 16, 6, 7, and 8
        for index in 0..<12 { write(index == 11 || index == 1 && symbols > 256 ? 1 : 0, 3) }
        write(0, 1)  // lengths of all symbols follow
        guard symbols > 256 else { return }
        for _ in 0..<256 { write(0, 1) }
        write(1, 1)
        write(symbols - 256 - 11, 7)  // so many have none
    }

    /// Writes a symbol in that code, starting with its highest bit.
    mutating func writeSymbol(_ symbol: UInt8) {
        for shift in (0..<8).reversed() { write(Int(symbol >> shift & 1), 1) }
    }
}
