import ImageCodecs

/// The colors, with alpha, of an image that has at most 256, and the color of each pixel.
struct PNGPalette {
    /// The red, green, blue, and alpha of each color; translucent colors come first.
    private(set) var colors: [UInt8] = []
    /// The number of colors that are not opaque.
    private(set) var transparentCount = 0
    /// The index of each pixel.
    private(set) var indices: [UInt8] = []

    var count: Int { colors.count / 4 }

    /// The minimum number of bits for every index: 1, 2, 4, or 8.
    var bitDepth: Int { count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8 }

    /// The size in bytes of the chunks that contain the colors.
    var chunkBytes: Int { 12 + count * 3 + (transparentCount > 0 ? 12 + transparentCount : 0) }

    /// Creates a palette; returns `nil` if there are more than 256 colors.
    init?(_ pixels: PixelBuffer) {
        var table = ColorTable()
        let bytes = pixels.bytes.span
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            let color = bytes.pixel(at: offset)
            guard table.insert(color) else { return nil }
        }
        let isOpaque = { (color: UInt32) in color >> 24 == 255 }
        let ordered = table.colors.filter { !isOpaque($0) } + table.colors.filter(isOpaque)
        transparentCount = ordered.count { !isOpaque($0) }
        colors = ordered.flatMap { color in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: color >> $0) } }

        var places = [UInt8](repeating: 0, count: ordered.count)
        for (index, color) in ordered.enumerated() { places[table.index(of: color)] = UInt8(index) }
        indices.reserveCapacity(pixels.size.area)
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            indices.append(places[table.index(of: bytes.pixel(at: offset))])
        }
    }
}

/// Up to 256 distinct colors in order of first use.
private struct ColorTable {
    private(set) var colors: [UInt32] = []
    /// The index in `colors` by hash; four times as many slots as colors, so that few collide.
    private var slots = [Int16](repeating: -1, count: 1024)
    private var last: UInt32?

    /// Inserts `color`; returns `false` if there are too many.
    mutating func insert(_ color: UInt32) -> Bool {
        guard color != last else { return true }
        last = color
        let slot = slot(of: color)
        guard slots[slot] < 0 else { return true }
        guard colors.count < 256 else { return false }
        slots[slot] = Int16(colors.count)
        colors.append(color)
        return true
    }

    /// Returns the index of an inserted color.
    func index(of color: UInt32) -> Int { max(0, Int(slots[slot(of: color)])) }

    /// Returns the slot of `color`, or the empty slot where it belongs.
    private func slot(of color: UInt32) -> Int {
        var slot = Int((color &* 0x9E37_79B1) >> 22)
        while slots[slot] >= 0, colors[Int(slots[slot])] != color { slot = (slot + 1) % slots.count }
        return slot
    }
}

extension Span<UInt8> {
    /// Returns four bytes as a little-endian number.
    fileprivate func pixel(at offset: Int) -> UInt32 {
        UInt32(self[offset]) | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2]) << 16
            | UInt32(self[offset + 3]) << 24
    }
}
