#if JPEGXL
import ImageTestSupport

extension TestProfile {
    /// A profile of the primaries of sRGB with a table of a curve, so that no encoder replaces it by a few numbers.
    static let table: [UInt8] = {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func place(_ x: Int, _ y: Int, _ z: Int) -> [UInt8] {
            Array("XYZ ".utf8) + number(0) + number(x) + number(y) + number(z)
        }
        var curve = Array("curv".utf8) + number(0) + number(256)
        for index in 0..<256 {
            let value = index * index + index / 3 * 2
            curve += number(min(value, 0xFFFF)).suffix(2)
        }
        let white = (0xF6D6, 0x10000, 0xD32D)
        let places = [
            ("wtpt", place(white.0, white.1, white.2)), ("rXYZ", place(0x6FA2, 0x38F5, 0x0390)),
            ("gXYZ", place(0x6299, 0xB785, 0x18DA)), ("bXYZ", place(0x24A0, 0x0F84, 0xB6CF)),
        ]
        var tags = number(places.count + 3)
        var contents: [UInt8] = []
        let start = 128 + 4 + 12 * (places.count + 3)
        for (name, place) in places {
            tags += Array(name.utf8) + number(start + contents.count) + number(place.count)
            contents += place
        }
        for name in ["rTRC", "gTRC", "bTRC"] {
            tags += Array(name.utf8) + number(start + contents.count) + number(curve.count)
        }
        contents += curve
        var head = number(start + contents.count) + number(0) + number(0x0240_0000) + Array("mntrRGB XYZ ".utf8)
        head += [UInt8](repeating: 0, count: 12) + Array("acsp".utf8) + [UInt8](repeating: 0, count: 28)
        head += number(white.0) + number(white.1) + number(white.2)
        head += [UInt8](repeating: 0, count: 128 - head.count)
        return head + tags + contents
    }()
}
#endif
