/// A generated photograph: sky, a sun or moon, mountains in haze, and a lake that reflects them.
struct Landscape {
    typealias Color = SIMD3<Double>

    var seed: UInt32
    /// The sky overhead.
    var zenith: Color
    /// The sky at the horizon, which also tints distant objects.
    var horizon: Color
    /// The nearest mountains.
    var rock: Color
    var sun: Color
    /// The position of the sun, 0 to 1 from the left and from the top.
    var sunPosition: SIMD2<Double>
    /// The radius of the sun as a fraction of the height.
    var sunRadius: Double = 0.05

    private static let waterLine = 0.7

    /// Returns the RGBA bytes of the picture, `width * height` pixels.
    func render(width: Int, height: Int) -> [UInt8] {
        let ridges = ridgeLines(width: width)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 4)
        for row in 0..<height {
            let y = (Double(row) + 0.5) / Double(height)
            for column in 0..<width {
                let x = (Double(column) + 0.5) / Double(height)
                let color =
                    y < Self.waterLine
                    ? land(x, y, column, ridges, aspect: Double(width) / Double(height))
                    : water(x, y, column, ridges, width: width, height: height)
                bytes.append(Self.byte(color.x))
                bytes.append(Self.byte(color.y))
                bytes.append(Self.byte(color.z))
                bytes.append(255)
            }
        }
        return bytes
    }

    private func land(_ x: Double, _ y: Double, _ column: Int, _ ridges: [[Double]], aspect: Double) -> Color {
        for (layer, ridge) in ridges.enumerated().reversed() where y > ridge[column] {
            let nearness = Double(layer + 1) / Double(ridges.count)
            let grain = Noise(seed: seed &+ 99).fractal(x * 30, y * 60, octaves: 3) - 0.5
            let depth = min(1, (y - ridge[column]) * 3)
            return mix(horizon * 0.92, rock, nearness * 0.9) * (1 + grain * 0.35 * nearness) * (1 + depth * 0.12)
        }
        return sky(x, y, aspect: aspect)
    }

    private func sky(_ x: Double, _ y: Double, aspect: Double) -> Color {
        let height = min(1, y / Self.waterLine)
        var color = mix(zenith, horizon, height * height * (3 - 2 * height))
        let offset = SIMD2(x - sunPosition.x * aspect, y - sunPosition.y)
        let distance = (offset * offset).sum().squareRoot()
        color += sun * (0.45 * falloff(distance / 0.28))
        let cloud = Noise(seed: seed).fractal(x * 3, y * 11, octaves: 5)
        color = mix(color, mix(sun, horizon, 0.4), max(0, cloud - 0.52) * 2.2 * (1 - height * 0.6))
        let edge = (sunRadius - distance) * 250
        return mix(color, sun, min(1, max(0, edge)))
    }

    private func water(
        _ x: Double, _ y: Double, _ column: Int, _ ridges: [[Double]], width: Int, height: Int
    ) -> Color {
        let depth = (y - Self.waterLine) / (1 - Self.waterLine)
        let noise = Noise(seed: seed &+ 7)
        let ripple = noise.fractal(x * 4 / (0.15 + depth), depth * 40 / (0.25 + depth), octaves: 3) - 0.5
        let mirrored = Self.waterLine - (y - Self.waterLine) * 1.6 + ripple * (0.03 + 0.12 * depth)
        let shifted = min(width - 1, max(0, column + Int(ripple * 24 * (0.2 + depth))))
        let reflected = land(
            x, min(Self.waterLine - 0.002, max(0, mirrored)), shifted, ridges, aspect: Double(width) / Double(height))
        return mix(reflected * 0.82, zenith * 0.55, 0.18 + 0.3 * depth) + sun * max(0, ripple - 0.22) * 0.7
    }

    /// Returns the upper edge of each row of mountains, from the farthest to the nearest, for each column.
    private func ridgeLines(width: Int) -> [[Double]] {
        (0..<4).map { layer in
            let noise = Noise(seed: seed &+ UInt32(layer) &* 31)
            let (base, relief) = (0.44 + 0.075 * Double(layer), 0.3 - 0.05 * Double(layer))
            return (0..<width).map { column in
                let x = Double(column) / Double(width) * (2.2 + Double(layer))
                let fold = 1 - abs(noise.fractal(x, Double(layer) * 9, octaves: 6) * 2 - 1)
                return min(Self.waterLine, base + 0.1 - relief * fold * fold)
            }
        }
    }

    private func falloff(_ t: Double) -> Double { 1 / (1 + t * t * t * t + 2 * t * t) }

    private func mix(_ a: Color, _ b: Color, _ t: Double) -> Color { a + (b - a) * t }

    private static func byte(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value * 255))) }
}

extension Landscape {
    static let dawn = Landscape(
        seed: 11, zenith: [0.24, 0.32, 0.56], horizon: [1.0, 0.72, 0.5], rock: [0.13, 0.11, 0.2],
        sun: [1.0, 0.92, 0.72], sunPosition: [0.55, 0.27])
    static let noon = Landscape(
        seed: 23, zenith: [0.16, 0.42, 0.78], horizon: [0.78, 0.88, 0.95], rock: [0.13, 0.24, 0.14],
        sun: [1.0, 1.0, 0.94], sunPosition: [0.3, 0.16])
    static let dusk = Landscape(
        seed: 37, zenith: [0.2, 0.12, 0.36], horizon: [0.95, 0.42, 0.36], rock: [0.09, 0.05, 0.13],
        sun: [1.0, 0.66, 0.4], sunPosition: [0.62, 0.2], sunRadius: 0.075)
    static let night = Landscape(
        seed: 53, zenith: [0.02, 0.03, 0.1], horizon: [0.16, 0.24, 0.4], rock: [0.02, 0.03, 0.06],
        sun: [0.94, 0.95, 1.0], sunPosition: [0.7, 0.2], sunRadius: 0.04)
    static let autumn = Landscape(
        seed: 71, zenith: [0.36, 0.52, 0.7], horizon: [0.98, 0.9, 0.72], rock: [0.42, 0.18, 0.05],
        sun: [1.0, 0.97, 0.85], sunPosition: [0.5, 0.25])
}
