import Foundation
import ImageTestSupport

// Handwritten profiles.
extension TestProfile {
    /// The relation of sample values to light.
    enum Curve {
        /// A power, in steps of 1/256.
        case gamma(Double)
        case sRGB

        func light(_ value: Double) -> Double {
            switch self {
            case .gamma(let gamma): pow(value, (gamma * 256).rounded() / 256)
            case .sRGB: ReferenceColors.sRGBLight(value)
            }
        }

        fileprivate var tag: [UInt8] {
            switch self {
            case .gamma(let gamma):
                let steps = Int((gamma * 256).rounded())
                return Array("curv".utf8) + number(0) + number(1) + [UInt8(steps >> 8), UInt8(steps & 255), 0, 0]
            case .sRGB:
                let parameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
                return Array("para".utf8) + number(0) + [0, 3, 0, 0] + parameters.flatMap(fixed)
            }
        }
    }

    /// Three primaries, whose XYZ are the columns of `matrix`.
    static func primaries(
        _ matrix: [[Double]], _ curve: Curve, name: String = "test", and others: [(name: String, data: [UInt8])] = []
    ) -> [UInt8] {
        var tags: [(String, [UInt8])] = [("desc", description(name)), ("wtpt", xyz([0.9642, 1, 0.8249]))]
        for (index, light) in ["r", "g", "b"].enumerated() {
            tags.append((light + "XYZ", xyz(matrix.map { $0[index] })))
            tags.append((light + "TRC", curve.tag))
        }
        return file("mntr", "RGB ", "XYZ ", tags + others)
    }

    /// The data of a tag with `count` multi-process elements, all of which are the same matrix, which inverts colors.
    static func elements(_ count: Int) -> [UInt8] {
        let matrix = [-1.0, 0, 0, 0, -1, 0, 0, 0, -1, 1, 1, 1].flatMap { number(Int(Float($0).bitPattern)) }
        let element = Array("matf".utf8) + number(0) + [0, 3, 0, 3] + matrix
        let head = Array("mpet".utf8) + number(0) + [0, 3, 0, 3] + number(count)
        let position = number(head.count + 8 * count) + number(element.count)
        return head + [[UInt8]](repeating: position, count: count).joined() + element
    }

    static func gray(_ curve: Curve) -> [UInt8] {
        file(
            "mntr", "GRAY", "XYZ ",
            [("desc", description("gray")), ("wtpt", xyz([0.9642, 1, 0.8249])), ("kTRC", curve.tag)])
    }

    /// A CMYK profile whose color in CIE Lab is ``lab(ofCMYK:)``.
    static func cmyk() -> [UInt8] {
        table("prtr", "CMYK", inputs: 4) { lab8(ofCMYK: $0) }
    }

    /// RGB defined by a table of colors only, as in ``lab(ofRGB:)``.
    static func lightTable(and others: [(name: String, data: [UInt8])] = []) -> [UInt8] {
        table("scnr", "RGB ", inputs: 3, and: others) { lab8(ofRGB: $0) }
    }

    /// The color of CMYK values from 0 to 1.
    static func lab(ofCMYK cmyk: [Double]) -> [Double] { lab(lab8(ofCMYK: cmyk)) }
    /// The color of RGB values from 0 to 1.
    static func lab(ofRGB lights: [Double]) -> [Double] { lab(lab8(ofRGB: lights)) }

    private static func lab8(ofCMYK cmyk: [Double]) -> [Double] {
        let (c, m, y, k) = (cmyk[0], cmyk[1], cmyk[2], cmyk[3])
        return [255 - 40 * c - 40 * m - 30 * y - 60 * k, 128 + 12 * m - 12 * c, 128 + 16 * y - 8 * c - 8 * m]
    }

    private static func lab8(ofRGB lights: [Double]) -> [Double] {
        let (r, g, b) = (lights[0], lights[1], lights[2])
        return [60 + 60 * r + 90 * g + 30 * b, 128 + 12 * r - 12 * g, 128 + 8 * r + 8 * g - 16 * b]
    }

    private static func lab(_ bytes: [Double]) -> [Double] {
        [bytes[0] * 100 / 255, bytes[1] - 128, bytes[2] - 128]
    }

    /// A table of two points along each axis, which is exact for linear colors.
    private static func table(
        _ deviceClass: String, _ space: String, inputs: Int, and others: [(name: String, data: [UInt8])] = [],
        _ color: ([Double]) -> [Double]
    ) -> [UInt8] {
        var tag = Array("mft1".utf8) + number(0) + [UInt8(inputs), 3, 2, 0]
        for index in 0..<9 { tag += fixed(index % 4 == 0 ? 1 : 0) }
        for _ in 0..<inputs { tag += 0...255 }
        for corner in 0..<1 << inputs {
            let place = (0..<inputs).map { Double(corner >> (inputs - 1 - $0) & 1) }
            tag += color(place).map { UInt8($0) }
        }
        for _ in 0..<3 { tag += 0...255 }
        return file(
            deviceClass, space, "Lab ",
            [("desc", description("table")), ("wtpt", xyz([0.9642, 1, 0.8249])), ("A2B0", tag)] + others)
    }

    private static func file(
        _ deviceClass: String, _ space: String, _ connection: String, _ tags: [(name: String, data: [UInt8])]
    ) -> [UInt8] {
        var head = [UInt8](repeating: 0, count: 128)
        func put(_ bytes: [UInt8], at offset: Int) { head.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
        put([2, 0x40, 0, 0], at: 8)
        put(Array((deviceClass + space + connection).utf8), at: 12)
        put(Array("acsp".utf8), at: 36)
        put(xyz([0.9642, 1, 0.8249]).suffix(12), at: 68)
        var directory = number(tags.count)
        var data: [UInt8] = []
        let start = 128 + 4 + tags.count * 12
        for tag in tags {
            directory += Array(tag.name.utf8) + number(start + data.count) + number(tag.data.count)
            data += tag.data + [UInt8](repeating: 0, count: (4 - tag.data.count % 4) % 4)
        }
        put(number(start + data.count), at: 0)
        return head + directory + data
    }

    private static func description(_ name: String) -> [UInt8] {
        Array("desc".utf8) + number(0) + number(name.utf8.count + 1) + Array(name.utf8)
            + [UInt8](repeating: 0, count: 1 + 78)
    }

    private static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + number(0) + values.flatMap(fixed)
    }

    private static func number(_ value: Int) -> [UInt8] { TestPNG.number(value) }

    private static func fixed(_ value: Double) -> [UInt8] { number(Int((value * 65_536).rounded())) }
}
