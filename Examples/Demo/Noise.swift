/// Smooth pseudorandom values, determined by a seed.
struct Noise {
    let seed: UInt32

    /// Returns a value from 0 to 1, smooth in `x` and `y`, with features of size 1.
    func value(_ x: Double, _ y: Double) -> Double {
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (column, row) = (Int32(truncatingIfNeeded: Int(left)), Int32(truncatingIfNeeded: Int(top)))
        let (across, down) = (smooth(x - left), smooth(y - top))
        return mix(
            mix(lattice(column, row), lattice(column &+ 1, row), across),
            mix(lattice(column, row &+ 1), lattice(column &+ 1, row &+ 1), across), down)
    }

    /// Returns the sum of octaves of `value`, each twice as fine and half as strong: 0 to 1.
    func fractal(_ x: Double, _ y: Double, octaves: Int) -> Double {
        var (sum, weight, total, scale) = (0.0, 1.0, 0.0, 1.0)
        for octave in 0..<octaves {
            sum += weight * value(x * scale + Double(octave) * 17, y * scale)
            total += weight
            weight /= 2
            scale *= 2
        }
        return sum / total
    }

    private func smooth(_ t: Double) -> Double { t * t * (3 - 2 * t) }

    private func mix(_ a: Double, _ b: Double, _ t: Double) -> Double { a + (b - a) * t }

    private func lattice(_ x: Int32, _ y: Int32) -> Double {
        var bits = UInt32(bitPattern: x) &* 0x9E37_79B1 ^ UInt32(bitPattern: y) &* 0x85EB_CA77 ^ seed &* 0xC2B2_AE3D
        bits = (bits ^ bits >> 15) &* 0x2C1B_3C6D
        bits = (bits ^ bits >> 12) &* 0x297A_2D39
        return Double(bits ^ bits >> 15) / Double(UInt32.max)
    }
}
