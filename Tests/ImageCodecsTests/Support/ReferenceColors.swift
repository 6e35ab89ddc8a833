import Foundation

/// Textbook color arithmetic in double precision.
enum ReferenceColors {
    typealias Vector = [Double]

    /// Returns the columns of the XYZ values of red, green, and blue, adapted from `white` to D50 by the Bradford
    /// transform.
    static func matrix(_ primaries: [(x: Double, y: Double)], white: (x: Double, y: Double)) -> [Vector] {
        let columns = primaries.map { xyz($0) }
        let rows = transposed(columns)
        let scales = apply(inverse(rows), xyz(white))
        let scaled = transposed(zip(columns, scales).map { column, scale in column.map { $0 * scale } })
        let bradford = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
        let from = apply(bradford, xyz(white))
        let to = apply(bradford, [0.9642, 1, 0.8249])
        let cone = (0..<3).map { row in bradford[row].map { $0 * to[row] / from[row] } }
        return multiply(inverse(bradford), multiply(cone, scaled))
    }

    static let d65 = (x: 0.3127, y: 0.3290)
    static let sRGB = matrix([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)], white: d65)
    private static let toSRGB = inverse(sRGB)
    static let displayP3 = matrix([(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)], white: d65)
    static let adobeRGB = matrix([(0.64, 0.33), (0.21, 0.71), (0.15, 0.06)], white: d65)
    static let bt2020 = matrix([(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)], white: d65)

    /// Converts an sRGB value to linear light; both are from 0 to 1.
    static func sRGBLight(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// Converts a PQ value (SMPTE ST 2084) to the light of a display of 203 cd/m², relative to its white.
    static func mappedPQLight(_ value: Double) -> Double { mapped(light(ofPQ: value)) }

    /// Converts an HLG value (ITU-R BT.2100) to the light of a display of 203 cd/m², relative to its white.
    static func mappedHLGLight(_ value: Double) -> Double {
        let a = 0.17883277
        let b = 1 - 4 * a
        let c = 0.5 - a * log(4 * a)
        let scene = value <= 0.5 ? pow(value, 2) / 3 : (exp((value - c) / a) + b) / 12
        return mapped(1_000 * pow(scene, 1.2))
    }

    /// Maps light of at most 1000 cd/m² to a display of 203 (ITU-R BT.2390, section 5.4), relative to its white.
    private static func mapped(_ light: Double) -> Double {
        let source = pq(1_000)
        let (value, maximum) = (min(pq(light) / source, 1), pq(203) / source)
        let start = 1.5 * maximum - 0.5
        guard value >= start else { return min(light / 203, 1) }
        let t = (value - start) / (1 - start)
        let first = (2 * pow(t, 3) - 3 * pow(t, 2) + 1) * start
        let second = (pow(t, 3) - 2 * pow(t, 2) + t) * (1 - start)
        let third = (3 * pow(t, 2) - 2 * pow(t, 3)) * maximum
        return min(self.light(ofPQ: (first + second + third) * source) / 203, 1)
    }

    private static func light(ofPQ value: Double) -> Double {
        let root = pow(value, 32.0 / 2_523)
        return 10_000 * pow(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 8_192.0 / 1_305)
    }

    private static func pq(_ light: Double) -> Double {
        let power = pow(light / 10_000, 1_305.0 / 8_192)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 2_523.0 / 32)
    }

    /// Returns the unrounded sRGB bytes of a color in the XYZ space of profiles.
    static func sRGBBytes(ofXYZ color: Vector) -> Vector {
        apply(toSRGB, color).map { light in
            let light = min(max(light, 0), 1)
            return 255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
        }
    }

    /// Returns the unrounded sRGB bytes of a pixel in a color space of three primaries.
    static func sRGBBytes(of pixel: some Collection<UInt8>, _ matrix: [Vector], _ curve: (Double) -> Double) -> Vector {
        sRGBBytes(ofXYZ: apply(matrix, pixel.prefix(3).map { curve(Double($0) / 255) }))
    }

    /// Returns the unrounded sRGB bytes of a color in CIE Lab.
    static func sRGBBytes(ofLab lab: Vector) -> Vector {
        func linear(_ value: Double) -> Double {
            value > 6.0 / 29 ? value * value * value : (value - 16.0 / 116) * 108 / 841
        }
        let y: Double = (lab[0] + 16) / 116
        let x: Double = y + lab[1] / 500
        let z: Double = y - lab[2] / 200
        return sRGBBytes(ofXYZ: [linear(x) * 0.9642, linear(y), linear(z) * 0.8249])
    }

    static func apply(_ matrix: [Vector], _ vector: Vector) -> Vector {
        matrix.map { zip($0, vector).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    private static func xyz(_ place: (x: Double, y: Double)) -> Vector {
        [place.x / place.y, 1, (1 - place.x - place.y) / place.y]
    }

    private static func transposed(_ matrix: [Vector]) -> [Vector] {
        (0..<3).map { row in matrix.map { $0[row] } }
    }

    private static func multiply(_ left: [Vector], _ right: [Vector]) -> [Vector] {
        left.map { row in (0..<3).map { column in (0..<3).reduce(0) { $0 + row[$1] * right[$1][column] } } }
    }

    private static func inverse(_ m: [Vector]) -> [Vector] {
        func minor(_ row: Int, _ column: Int) -> Double {
            let rows = [0, 1, 2].filter { $0 != row }
            let columns = [0, 1, 2].filter { $0 != column }
            let main: Double = m[rows[0]][columns[0]] * m[rows[1]][columns[1]]
            let other: Double = m[rows[0]][columns[1]] * m[rows[1]][columns[0]]
            return main - other
        }
        let determinant: Double = m[0][0] * minor(0, 0) - m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2)
        return (0..<3).map { row in
            (0..<3).map { column in ((row + column) % 2 == 0 ? 1 : -1) * minor(column, row) / determinant }
        }
    }
}
