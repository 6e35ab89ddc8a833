import ImageCodecs

/// Synthetic pictures that cost a codec about as much as photographs, with smooth regions, edges, and fine grain.
enum Photograph {
    /// Returns the picture with this size and number, which is always the same.
    static func pixels(width: Int, height: Int, number: Int = 0) throws -> PixelBuffer {
        let size = PixelSize(width: width, height: height)
        let texture = Texture()
        var bytes = [UInt8](repeating: 255, count: size.area * 4)
        // Each number shows another part of the same landscape.
        let (left, top) = (number * 389, number * 211)
        var offset = 0
        for y in top..<top + height {
            for x in left..<left + width {
                // Coarse shapes, which differ between channels so that chroma has a cost, too, and fine grain.
                let grain = Int(texture[x, y]) - 128
                bytes[offset] = clamped(Int(texture[x >> 4, y >> 4]) / 2 + grain + 80)
                bytes[offset + 1] = clamped(Int(texture[x >> 5, y >> 4]) / 2 + grain + 60)
                bytes[offset + 2] = clamped(Int(texture[x >> 4, y >> 5]) / 2 + grain + 40)
                offset += 4
            }
        }
        guard let pixels = PixelBuffer(size: size, bytes: bytes) else { throw PhotographError(size: size) }
        return pixels
    }

    private static func clamped(_ value: Int) -> UInt8 { UInt8(min(max(value, 0), 255)) }
}

/// The error when the bytes of a picture do not fit its size.
struct PhotographError: Error, CustomStringConvertible {
    let size: PixelSize
    var description: String { "cannot draw a picture of \(size)" }
}

/// A square of smooth noise that repeats without seams.
private struct Texture {
    private static let side = 1_024
    private let values: [UInt8]

    init() {
        var values = [Double](repeating: 0, count: Self.side * Self.side)
        var generator = SplitMix64(seed: 1)
        // Layers of noise, each with cells of a quarter the side of the one before, and weaker.
        for (cells, strength) in [(16, 0.4), (64, 0.3), (256, 0.2), (1_024, 0.1)] {
            let lattice = (0..<cells * cells).map { _ in Double.random(in: 0...1, using: &generator) }
            let step = Double(cells) / Double(Self.side)
            for y in 0..<Self.side {
                let row = Double(y) * step
                let (top, down) = (Int(row), row - row.rounded(.down))
                let bottom = (top + 1) % cells
                for x in 0..<Self.side {
                    let column = Double(x) * step
                    let (left, across) = (Int(column), column - column.rounded(.down))
                    let right = (left + 1) % cells
                    let above = lattice[top * cells + left] * (1 - across) + lattice[top * cells + right] * across
                    let below = lattice[bottom * cells + left] * (1 - across) + lattice[bottom * cells + right] * across
                    values[y * Self.side + x] += strength * (above * (1 - down) + below * down)
                }
            }
        }
        self.values = values.map { UInt8(min(max($0 * 255, 0), 255)) }
    }

    subscript(x: Int, y: Int) -> UInt8 {
        values[(y & (Self.side - 1)) * Self.side + (x & (Self.side - 1))]
    }
}
