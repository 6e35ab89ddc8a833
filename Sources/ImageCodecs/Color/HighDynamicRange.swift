import Glibc

/// Encodings of high dynamic range (ITU-R BT.2100), shown on a display with the range of sRGB.
///
/// Light is mapped from a display of 1000 cd/m² to one of 203 cd/m², the level of diffuse white (ITU-R BT.2408), by the
/// curve of ITU-R BT.2390, section 5.4: each primary separately, unchanged below 88 cd/m².
enum HighDynamicRange: Sendable, Hashable {
    /// PQ, which encodes up to 10,000 cd/m².
    case perceptualQuantizer
    /// HLG.
    case hybridLogGamma

    /// The number of values in a ``table``, which are close enough for linear interpolation.
    static let tableCount = 4_096

    /// The light of the original display, in cd/m².
    private static let peak = 1_000.0
    /// The light of the display on which images are shown, in cd/m².
    private static let white = 203.0

    /// The light of equidistant encoded values, from 0 to 65,535.
    var table: [UInt16] {
        switch self {
        case .perceptualQuantizer: Self.tableOfPQ
        case .hybridLogGamma: Self.tableOfHLG
        }
    }

    // Each takes a millisecond.
    private static let tableOfPQ = makeTable(.perceptualQuantizer)
    private static let tableOfHLG = makeTable(.hybridLogGamma)

    private static func makeTable(_ encoding: Self) -> [UInt16] {
        (0..<tableCount).map { UInt16(encoding.light(of: Double($0) / Double(tableCount - 1)) * 65_535 + 0.5) }
    }

    /// Returns the light of an encoded value, both from 0 to 1.
    func light(of value: Double) -> Double {
        let shown = Self.light(ofPQ: Self.mapped(Self.pq(original(value))))
        return min(max(0, shown / Self.white), 1)
    }

    /// Returns the light of the original display, in cd/m².
    private func original(_ value: Double) -> Double {
        switch self {
        case .perceptualQuantizer: return Self.light(ofPQ: value)
        case .hybridLogGamma:
            let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
            let scene = value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
            // The gamma of a system with this peak.
            return Self.peak * pow(scene, 1.2)
        }
    }

    /// Returns a PQ value brought from the range of the original display to that of the other one.
    private static func mapped(_ value: Double) -> Double {
        let range = pq(peak)
        let limit = pq(white) / range
        let knee = 1.5 * limit - 0.5
        let value = min(value / range, 1)
        guard value > knee else { return value * range }
        let t = (value - knee) / (1 - knee)
        let (t2, t3) = (t * t, t * t * t)
        return range * ((2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * limit)
    }

    // MARK: SMPTE ST 2084

    private static let m1 = 2_610.0 / 16_384
    private static let m2 = 2_523.0 / 4_096 * 128
    private static let c1 = 3_424.0 / 4_096
    private static let c2 = 2_413.0 / 4_096 * 32
    private static let c3 = 2_392.0 / 4_096 * 32

    /// Returns the light of a PQ value, in cd/m².
    private static func light(ofPQ value: Double) -> Double {
        let power = pow(value, 1 / m2)
        return 10_000 * pow(max(0, power - c1) / (c2 - c3 * power), 1 / m1)
    }

    /// Returns the PQ value of light in cd/m².
    private static func pq(_ light: Double) -> Double {
        let power = pow(light / 10_000, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }
}
