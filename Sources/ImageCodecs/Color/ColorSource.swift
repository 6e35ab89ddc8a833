/// The color space of a file's pixels, as declared by the file.
enum ColorSource: Sendable, Hashable {
    /// sRGB, declared by name.
    case sRGB
    /// An ICC profile.
    case profile([UInt8])
    /// Three primaries with a shared tone curve.
    case primaries(PrimariesSpace)
    /// A declaration that cannot be used.
    case unusable

    /// The maximum size of a profile, in bytes; profiles of printing presses have up to 3 MiB.
    static let maximumProfileBytes = 4 << 20

    /// Creates a source from a copy of an ICC profile, unless it is too large.
    init(profile bytes: Span<UInt8>) {
        self = bytes.count <= Self.maximumProfileBytes ? .profile(Array(copying: bytes)) : .unusable
    }
}

/// An RGB color space defined by three primaries that share a tone curve.
struct PrimariesSpace: Sendable, Hashable {
    /// Coordinates in the CIE 1931 chromaticity diagram.
    struct Chromaticity: Sendable, Hashable {
        var x: Double
        var y: Double

        init(_ x: Double, _ y: Double) {
            (self.x, self.y) = (x, y)
        }
    }

    /// The chromaticities of the white point and the three primaries.
    struct Primaries: Sendable, Hashable {
        var white: Chromaticity
        var red: Chromaticity
        var green: Chromaticity
        var blue: Chromaticity
    }

    /// The curve from an encoded value v to linear light, both 0 to 1.
    enum Curve: Sendable, Hashable {
        /// (av + b)^gamma, and cv below d.
        case power(gamma: Double, a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 0)
        case highDynamicRange(HighDynamicRange)
    }

    var primaries: Primaries
    var curve: Curve

    /// The name of the color space, the description of its profile.
    var name: String {
        let gamut =
            switch primaries {
            case .bt709: "BT.709"
            case .bt601With525Lines, .bt601With625Lines: "BT.601"
            case .bt2020: "BT.2020"
            case .displayP3: "Display P3"
            default: "RGB"
            }
        return switch curve {
        case .power: gamut
        case .highDynamicRange(.perceptualQuantizer): gamut + " PQ"
        case .highDynamicRange(.hybridLogGamma): gamut + " HLG"
        }
    }

    /// The maximum size of its profile, in bytes.
    var profileBytes: Int {
        if case .highDynamicRange = curve { (4 << 10) + 3 * 2 * HighDynamicRange.tableCount } else { 4 << 10 }
    }
}

extension PrimariesSpace.Primaries {
    private static let d65 = PrimariesSpace.Chromaticity(0.3127, 0.3290)

    /// sRGB and BT.709.
    static let bt709 = Self(white: d65, red: .init(0.64, 0.33), green: .init(0.30, 0.60), blue: .init(0.15, 0.06))
    /// PAL and SECAM.
    static let bt601With625Lines = Self(
        white: d65, red: .init(0.64, 0.33), green: .init(0.29, 0.60), blue: .init(0.15, 0.06))
    /// NTSC.
    static let bt601With525Lines = Self(
        white: d65, red: .init(0.630, 0.340), green: .init(0.310, 0.595), blue: .init(0.155, 0.070))
    static let bt2020 = Self(
        white: d65, red: .init(0.708, 0.292), green: .init(0.170, 0.797), blue: .init(0.131, 0.046))
    static let displayP3 = Self(
        white: d65, red: .init(0.680, 0.320), green: .init(0.265, 0.690), blue: .init(0.150, 0.060))

    /// A Boolean value that indicates whether all coordinates are inside the diagram, and the primaries span a
    /// triangle that contains the white point.
    var areValid: Bool {
        for place in [white, red, green, blue] {
            guard (0...1).contains(place.x), (0.001...1).contains(place.y), place.x + place.y <= 1 else { return false }
        }
        typealias Place = PrimariesSpace.Chromaticity
        /// Returns twice the signed area of a triangle.
        func area(_ a: Place, _ b: Place, _ c: Place) -> Double {
            (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
        }
        let whole = area(red, green, blue)
        guard abs(whole) > 0.001 else { return false }
        return [area(white, green, blue), area(red, white, blue), area(red, green, white)].allSatisfy {
            $0 / whole > 0.001
        }
    }

    /// Returns whether every coordinate differs from that of `other` by at most `distance` in x and y.
    func isWithin(_ distance: Double, of other: Self) -> Bool {
        [\Self.white, \.red, \.green, \.blue].allSatisfy { place in
            abs(self[keyPath: place].x - other[keyPath: place].x) <= distance
                && abs(self[keyPath: place].y - other[keyPath: place].y) <= distance
        }
    }
}

extension PrimariesSpace.Curve {
    static let sRGB = Self.power(gamma: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045)
    /// BT.601, BT.709 and BT.2020.
    static let bt709 = Self.power(gamma: 1 / 0.45, a: 1 / 1.099, b: 0.099 / 1.099, c: 1 / 4.5, d: 0.081)
    static let linear = Self.power(gamma: 1)
}
